const TRIES = 3;

/** How long this process computed meanwhile: while it stands still that is no time. */
export const cpuMsOf = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

/** How long it takes where nothing holds this process up: of three times the shortest. */
export const shortestMsOf = (work: () => void): number =>
  Math.min(
    ...Array.from({ length: TRIES }, () => {
      const beganMs = performance.now();
      work();
      return performance.now() - beganMs;
    }),
  );
