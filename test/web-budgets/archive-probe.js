// Runs in the archive's page: what it shows, as it says so itself, at each turn of the screen.
(() => {
  const factsNow = () => {
    const clock = document.querySelector('[data-phase]');
    const shown = [...document.querySelectorAll('[data-camera]')].map(({ dataset }) =>
      dataset.shown === '' ? null : Number(dataset.shown),
    );
    return { phase: clock?.dataset.phase ?? '', timeMs: Number(clock?.dataset.time), shown };
  };
  /** Resolves with the time it took from the last event of that type until `isThere`. */
  const timed = (type, isThere, withinMs) =>
    new Promise((resolve) => {
      const giveUp = setTimeout(() => resolve(null), 2 * withinMs);
      const onEvent = () => {
        clearTimeout(giveUp);
        removeEventListener(type, onEvent, true);
        const startMs = performance.now();
        const look = () => {
          const tookMs = performance.now() - startMs;
          if (isThere(factsNow())) resolve(tookMs);
          else if (tookMs > withinMs) resolve(null);
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      };
      addEventListener(type, onEvent, true);
    });
  const WITHIN_MS = 10_000;
  const ofAll = (isThere) => (facts) =>
    facts.shown.length > 0 && facts.shown.every((shown) => shown !== null && isThere(facts, shown));
  globalThis.archiveProbe = {
    factsNow,
    /** The measure that `arm` began. */
    taken: null,
    /** Begins `seek` or `scrub` before the event comes that it waits for. */
    arm(what, spanMs) {
      this.taken = this[what](spanMs);
    },
    /** From letting go until every camera shows just that moment. */
    seek: (frameMs) =>
      timed(
        'pointerup',
        ofAll(
          ({ timeMs, phase }, shown) => phase === 'paused' && shown <= timeMs + 1 && shown > timeMs - frameMs,
        ),
        WITHIN_MS,
      ),
    /** From a move until every camera shows the keyframe before it. */
    scrub: (gopMs) =>
      timed(
        'pointermove',
        ofAll(({ timeMs }, shown) => shown <= timeMs + 1 && shown > timeMs - gopMs),
        WITHIN_MS,
      ),
    /** By how much the cameras' pictures are apart, at each turn of the screen for so long. */
    skews: (forMs) =>
      new Promise((resolve) => {
        const skews = [];
        const startMs = performance.now();
        const look = () => {
          const { phase, shown } = factsNow();
          const known = shown.filter((each) => each !== null);
          if (phase === 'playing' && known.length > 1 && known.length === shown.length)
            skews.push(Math.max(...known) - Math.min(...known));
          if (performance.now() - startMs > forMs) resolve(skews);
          else requestAnimationFrame(look);
        };
        look();
      }),
  };
})();
