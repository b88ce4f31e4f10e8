"""Static pictures of a map: dots, density, names and a legend, drawn with Matplotlib."""
