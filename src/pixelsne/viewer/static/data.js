// Where the map comes from: a server, or the file itself. Both have the same parts.

import { KINDS } from "./column_kinds.js";

/**
 * @typedef {{name: string, kind: keyof typeof KINDS, names: string[], wide: boolean, reason: string}} ColumnAbout
 * @typedef {Omit<ColumnAbout, "kind"> & {kind: keyof typeof KINDS | "unavailable"}} AnyColumnAbout reason: why it is unavailable
 * @typedef {{title: string, resolution: [number, number], n: number, columns: AnyColumnAbout[], color: string | null,
 *   live: boolean, server: boolean, exports: boolean, dark: boolean | null}} Manifest
 * @typedef {{manifest: () => Promise<Manifest>, part: (name: string) => Promise<ArrayBuffer>}} Source
 */

/** @type {Source} */
const served = {
  async manifest() {
    const answer = await fetch("/data/manifest");
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  },
  async part(name) {
    const answer = await fetch(`/data/${name}`);
    if (!answer.ok) throw new Error(await answer.text());
    return answer.arrayBuffer();
  },
};

/**
 * The content of a script element that is no script: gzip in base64.
 * @param {string} id
 * @returns {Promise<ArrayBuffer>}
 */
async function embeddedPart(id) {
  const element = document.getElementById(`part-${id}`);
  if (element === null) throw new Error(`this file has no ${id}; it is damaged`);
  const text = atob(element.textContent ?? "");
  const bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) bytes[place] = text.charCodeAt(place);
  element.remove(); // once is enough, and memory is dear
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).arrayBuffer();
}

/** @type {Source} */
const embedded = {
  async manifest() {
    return JSON.parse(new TextDecoder().decode(await embeddedPart("manifest")));
  },
  part: embeddedPart,
};

/** @returns {Source} */
export function openSource() {
  return document.getElementById("part-manifest") === null ? served : embedded;
}

/**
 * The columns that can be shown.
 * @param {Source} source
 * @param {Manifest} manifest
 */
export function columnsOf(source, manifest) {
  return manifest.columns.flatMap((about, index) => {
    const { kind } = about;
    return kind === "unavailable" ? [] : [new Column(source, { ...about, kind }, index, manifest.n)];
  });
}

/** One column, fetched when somebody first looks at it. */
export class Column {
  /**
   * @param {Source} source
   * @param {ColumnAbout} about
   * @param {number} place
   * @param {number} n
   */
  constructor(source, about, place, n) {
    this.about = about;
    this.kind = KINDS[about.kind];
    this.n = n;
    /** @type {Uint8Array | Uint16Array | Uint32Array} */
    this.codes = new Uint8Array(0);
    /** @type {Float32Array | Float64Array} */
    this.numbers = new Float32Array(0);
    /** @type {Uint32Array} */
    this.begins = new Uint32Array(0);
    /** @type {Uint8Array} */
    this.text = new Uint8Array(0);
    this.isLoaded = false;
    this._load = () => source.part(`column${place}`);
    /** @type {Promise<void> | null} */
    this._loading = null;
  }

  /** @returns {Promise<void>} */
  load() {
    this._loading ??= this._load().then((content) => {
      this.kind.take(this, content);
      this.isLoaded = true;
    }).catch((error) => {
      this._loading = null; // the server may come back
      throw error;
    });
    return this._loading;
  }

  /**
   * What a row has in this column, in words.
   * @param {number} row
   */
  words(row) {
    return this.isLoaded ? this.kind.words(this, row) : "…";
  }
}
