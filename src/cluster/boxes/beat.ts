import { isBoxName } from '../../base/box-name.js';

/** `leaving`: it hands its cameras over, and takes none; `gone`: its last word. */
export type BoxState = 'here' | 'leaving' | 'gone';

/** A box, and which start of it. */
export type Boot = { readonly box: string; readonly boot: string };

/** What waits there to be copied to the object store. */
export type StoreQueue = {
  /** The store answered last time. */
  readonly isUp: boolean;
  readonly waiting: number;
  /** How long the first of them has waited. */
  readonly oldestSec: number;
};

/** What a box tells of itself, over and over. */
export type Beat = {
  readonly box: string;
  /** Another one with each start. */
  readonly boot: string;
  /** Rises with each beat. */
  readonly seq: number;
  readonly state: BoxState;
  readonly capacity: number;
  /** Of all its cores: 1 is as much as they can do. */
  readonly load: number;
  /** How many it has. */
  readonly cameras: number;
  /** Where its API is; null: it didn't say. */
  readonly address: string | null;
  /** Where it is asked for live pictures, on the host of that address; null: nowhere. */
  readonly relayPort: number | null;
  readonly version: string;
  /** Null: it copies nothing, or is of a version that doesn't say. */
  readonly store: StoreQueue | null;
  /** What its clock showed as it said that; null: it is of a version that doesn't say. */
  readonly wallMs: number | null;
  /**
   * Whom it has heard lately, whether it believes that they live or not: who finds its own start here knows that this was said
   * just now, and isn't said again by somebody else.
   */
  readonly hears: readonly Boot[];
};

/** More than one cluster will ever have. */
export const MAX_BOXES = 128;
const MAX_BYTES = 32_768;
const MAX_CAPACITY = 1_000;
const MAX_CAMERAS = 1_000_000;
const MAX_LOAD = 1_000;
const STATES: readonly BoxState[] = ['here', 'leaving', 'gone'];

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value.length <= maxLength;

const isWithin = (value: unknown, max: number): value is number =>
  typeof value === 'number' && value >= 0 && value <= max;

/** Boxes write where viewers are sent: nothing but an origin goes. */
const isAddress = (value: unknown): value is string | null =>
  value === null ||
  (isText(value, 256) && /^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value);

const isPort = (value: unknown): value is number | null =>
  value === null || (Number.isInteger(value) && isWithin(value, 65_535) && value > 0);

const storeOf = (value: unknown): StoreQueue | null => {
  if (typeof value !== 'object' || value === null) return null;
  const { isUp, waiting, oldestSec } = value as Readonly<Record<string, unknown>>;
  const max = Number.MAX_SAFE_INTEGER;
  if (typeof isUp !== 'boolean' || !isWithin(waiting, max) || !isWithin(oldestSec, max)) return null;
  return { isUp, waiting, oldestSec };
};

const isName = (value: unknown): value is string => isText(value, 63) && isBoxName(value);

const isBootId = (value: unknown): value is string => isText(value, 64) && value !== '';

const isBoot = (value: unknown): value is Boot => {
  const { box, boot } = (value ?? {}) as Partial<Record<keyof Boot, unknown>>;
  return isName(box) && isBootId(boot);
};

export const beatText = (beat: Beat): string => JSON.stringify(beat);

const jsonOf = (text: string): Readonly<Record<string, unknown>> | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as Readonly<Record<string, unknown>> | null) : null;
  } catch {
    return null;
  }
};

/** Null: it is none. What a newer version tells besides is left out. */
export const beatOf = (text: string): Beat | null => {
  if (text.length > MAX_BYTES) return null;
  const {
    box,
    boot,
    seq,
    state,
    capacity,
    load,
    cameras,
    address,
    relayPort,
    version,
    store,
    wallMs,
    hears,
  } = jsonOf(text) ?? {};
  const known = STATES.find((name) => name === state);
  if (!isName(box) || !isBootId(boot) || !isText(version, 64) || known === undefined) return null;
  if (!Number.isSafeInteger(seq) || !isWithin(seq, Number.MAX_SAFE_INTEGER)) return null;
  if (!isWithin(capacity, MAX_CAPACITY) || !isWithin(load, MAX_LOAD) || !isWithin(cameras, MAX_CAMERAS))
    return null;
  // Boxes of versions without a relay don't speak of one.
  if (!isPort(relayPort ?? null)) return null;
  if (!isAddress(address) || !Array.isArray(hears) || hears.length > MAX_BOXES) return null;
  if (!hears.every(isBoot)) return null;
  return {
    ...{ box, boot, seq, state: known, capacity, load, cameras, address, version },
    hears: hears.map((heard) => ({ box: heard.box, boot: heard.boot })),
    relayPort: (relayPort as number | null | undefined) ?? null,
    store: storeOf(store),
    wallMs: Number.isFinite(wallMs) ? (wallMs as number) : null,
  };
};
