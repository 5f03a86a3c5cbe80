import type { Profile } from './profiles.js';

/** What would be one camera: one of a device's pictures, and the streams of it. */
export type ChosenStreams = {
  readonly source: string;
  readonly main: Profile;
  /** Null: nothing is enough smaller. */
  readonly sub: Profile | null;
};

/** What can be recorded. */
const codecs = new Set(['h264', 'h265']);
/** What a tile of a wall shows. */
const TILE_PIXELS = 640 * 360;
/** A smaller stream is worth a second connection from there on. */
const MAX_SUB_SHARE = 0.6;

const pixels = ({ width, height }: Profile): number => width * height;

/** Browsers show H.264 everywhere; of those, the nearest to a tile's size. */
const bySuitability = (a: Profile, b: Profile): number => {
  const rank = (profile: Profile): number =>
    Math.abs(Math.log((pixels(profile) || 1) / TILE_PIXELS)) + (profile.codec === 'h264' ? 0 : 10);
  return rank(a) - rank(b);
};

/**
 * Of each of a device's pictures the largest stream that can be recorded, and beside it the one that suits a tile of a
 * wall. In the device's order.
 */
export const chooseStreams = (profiles: readonly Profile[]): ChosenStreams[] => {
  const bySource = new Map<string, Profile[]>();
  for (const profile of profiles)
    if (codecs.has(profile.codec)) {
      const known = bySource.get(profile.source);
      if (known === undefined) bySource.set(profile.source, [profile]);
      else known.push(profile);
    }
  return [...bySource].map(([source, all]) => {
    const main = all.reduce((best, profile) =>
      pixels(profile) > pixels(best) ||
      (pixels(profile) === pixels(best) && profile.bitrateKbps > best.bitrateKbps)
        ? profile
        : best,
    );
    const smaller = all.filter(
      (profile) => pixels(profile) < pixels(main) * MAX_SUB_SHARE && pixels(profile) > 0,
    );
    return { source, main, sub: smaller.toSorted(bySuitability)[0] ?? null };
  });
};
