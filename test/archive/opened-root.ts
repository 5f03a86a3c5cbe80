import { mkdirSync, statSync } from 'node:fs';
import { RecorderRoot, RootState } from '../../src/archive/root-state.js';

/** A folder that is the archive, made if it is missing, as the main thread tells recorders of it. */
export const openedRoot = (dir: string): RootState => {
  mkdirSync(dir, { recursive: true });
  const state = new RootState();
  state.set(statSync(dir, { bigint: true }));
  return state;
};

/** The same as recorders see it. */
export const recorderRoot = (dir: string): RecorderRoot => new RecorderRoot(dir, openedRoot(dir).memory);

/** An archive that is always there, for whoever looks after it. */
export const alwaysThere = {
  fault: null,
  start: (onFound: () => Promise<void>) => onFound(),
  state: new RootState(),
};
