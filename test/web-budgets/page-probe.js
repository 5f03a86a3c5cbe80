// Runs in the page before the app: long tasks, when what is waited for was there, and pictures of <video> elements.
(() => {
  const nowMs = () => performance.timeOrigin + performance.now();
  const probe = {
    startedMs: performance.timeOrigin,
    longTasksMs: [],
    interactionsMs: {},
    seenMs: {},
    videoDrawsMs: [],
  };
  globalThis.budgetProbe = probe;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      probe.longTasksMs.push([performance.timeOrigin + startTime, duration]);
  }).observe({ type: 'longtask' });
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries())
      if (interactionId > 0)
        probe.interactionsMs[interactionId] = Math.max(probe.interactionsMs[interactionId] ?? 0, duration);
  }).observe({ type: 'event', durationThreshold: 16 });

  const watched = { form: 'input[name=password]', tiles: '[data-slot]', live: '[data-badge=live]' };
  const videos = new WeakSet();
  const follow = (video) => {
    videos.add(video);
    const onFrame = () => {
      probe.videoDrawsMs.push(nowMs());
      video.requestVideoFrameCallback(onFrame);
    };
    video.requestVideoFrameCallback(onFrame);
  };
  new MutationObserver(() => {
    for (const [name, selector] of Object.entries(watched))
      if (probe.seenMs[name] === undefined && document.querySelector(selector) !== null)
        probe.seenMs[name] = nowMs();
    for (const video of document.querySelectorAll('[data-camera] video'))
      if (!videos.has(video)) follow(video);
  }).observe(document, { subtree: true, childList: true });
})();
