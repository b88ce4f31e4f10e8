// The source of the map's data: a server, or the exported file itself. Both have the same parts.

import { COLUMN_TYPES } from "./column_types.js";

/**
 * @typedef {{name: string, kind: string, categories: string[], isFloat64: boolean, reason: string}} ColumnMetadata
 *   categories: their names; isFloat64: numbers have 64 bits; reason: why the page cannot show the column
 * @typedef {{title: string, resolution: [number, number], n: number, columns: ColumnMetadata[], color: string | null,
 *   live: boolean, server: boolean, canExport: boolean, dark: boolean | null, regions: import("./regions.js").Region[],
 *   textColumn: string | null}} Manifest
 *   live: a run is watched; server: a server answers requests; canExport: it writes files; textColumn: has the texts of
 *   example rows
 * @typedef {{manifest: () => Promise<Manifest>, part: (name: string) => Promise<ArrayBuffer>}} Source
 */

/** @type {Source} */
const serverSource = {
  async manifest() {
    const response = await fetch("/data/manifest");
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  },
  async part(name) {
    const response = await fetch(`/data/${name}`);
    if (!response.ok) throw new Error(await response.text());
    return response.arrayBuffer();
  },
};

/**
 * Decode the content of a script element: gzip in base64.
 * @param {string} name
 * @returns {Promise<ArrayBuffer>}
 */
async function decodeEmbeddedPart(name) {
  const node = document.getElementById(`part-${name}`);
  if (node === null) throw new Error(`the part ${name} is missing in this file; export the page again`);
  const text = atob(node.textContent ?? "");
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  node.remove(); // frees memory; each part is read once
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).arrayBuffer();
}

/** @type {Source} */
const embeddedSource = {
  async manifest() {
    return JSON.parse(new TextDecoder().decode(await decodeEmbeddedPart("manifest")));
  },
  part: decodeEmbeddedPart,
};

/** @returns {Source} */
export function openSource() {
  return document.getElementById("part-manifest") === null ? serverSource : embeddedSource;
}

/**
 * The type of a column; undefined if the page cannot show it.
 * @param {ColumnMetadata} metadata
 */
function typeOf({ kind }) {
  return Object.hasOwn(COLUMN_TYPES, kind) ? COLUMN_TYPES[/** @type {keyof typeof COLUMN_TYPES} */ (kind)] : undefined;
}

/**
 * The columns that the page can show.
 * @param {Source} source
 * @param {Manifest} manifest
 */
export function createColumns(source, manifest) {
  return manifest.columns.flatMap((metadata, index) => {
    const type = typeOf(metadata);
    return type === undefined ? [] : [new Column(metadata, type, manifest.n, () => source.part(`column${index}`))];
  });
}

/**
 * The columns that the page cannot show.
 * @param {Manifest} manifest
 */
export function findUnavailableColumns(manifest) {
  return manifest.columns.filter((metadata) => typeOf(metadata) === undefined);
}

/** A column whose content is fetched when it is first needed. */
export class Column {
  /**
   * @param {ColumnMetadata} metadata
   * @param {import("./column_types.js").ColumnType} type
   * @param {number} n
   * @param {() => Promise<ArrayBuffer>} fetchContent
   */
  constructor(metadata, type, n, fetchContent) {
    this.metadata = metadata;
    this.name = metadata.name;
    this.type = type;
    this.n = n;
    /** @type {Uint8Array | Uint16Array | Uint32Array} */
    this.codes = new Uint8Array(0); // of categories
    /** @type {Float32Array | Float64Array} */
    this.numbers = new Float32Array(0); // or milliseconds since 1970
    /** @type {Uint32Array} */
    this.offsets = new Uint32Array(0); // of each row in `text`
    /** @type {Uint8Array} */
    this.text = new Uint8Array(0); // UTF-8
    this.isLoaded = false;
    this._fetchContent = fetchContent;
    /** @type {Promise<void> | null} */
    this._loading = null;
  }

  /** @returns {Promise<void>} */
  load() {
    this._loading ??= this._fetchContent().then((content) => {
      this.type.decode(this, content);
      this.isLoaded = true;
    }).catch((error) => {
      this._loading = null; // the server may come back
      throw error;
    });
    return this._loading;
  }

  /**
   * The value of a row as text.
   * @param {number} row
   */
  format(row) {
    return this.isLoaded ? this.type.format(this, row) : "…";
  }

  /**
   * The beginning of a text, without decoding all of it.
   * @param {number} row
   * @param {number} bytes
   */
  formatStart(row, bytes) {
    return this.type.formatStart?.(this, row, bytes) ?? this.format(row);
  }
}
