// Says so where a module or settings.json cannot be loaded. A classic script: the modules cannot say it themselves.

window.addEventListener(
  "error",
  ({ target }) => {
    // A picture that is missing stops nothing.
    if (target !== window && !target.matches("script")) return;
    const place = document.querySelector("#main .loading");
    if (place !== null) place.textContent = "The portal could not be loaded. Load the page again.";
  },
  // What cannot be loaded tells its own element alone, and whoever captures.
  true,
);
