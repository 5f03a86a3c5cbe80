import type { Place, Visitor } from './visitor.js';

/** Where visitors go, and what decides what they do there. */
export type Wall = Place & {
  /** An access token that lasts as long as the test. */
  readonly token: string;
  /** The same in each run. */
  readonly random: () => number;
};

/** One visit, from coming to having gone; throws if the service didn't do what it should. */
export type Viewing = (wall: Wall, visitor: Visitor) => Promise<void>;

/** Recorded, H.264 with sound. */
export const DOOR = 'door';
/** Asks for tokens. */
export const GATE = 'gate';
/** Not recorded. */
export const YARD = 'yard';
/** H.264 with B-frames: WebRTC can't carry it. */
export const ROOF = 'roof';

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const oneOf = <Value>(wall: Wall, ...values: readonly Value[]): Value =>
  values[Math.floor(wall.random() * values.length)]!;

/** The query that opens a stream of this camera. */
export const ticketFor = async (wall: Wall, visitor: Visitor, cameraId: string): Promise<string> => {
  if (cameraId !== GATE) return '';
  const text = await visitor.read(`/api/cameras/${cameraId}/stream-token`, { token: wall.token });
  return `?token=${(JSON.parse(text) as { token: string }).token}`;
};
