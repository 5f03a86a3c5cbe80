import type { Lane } from '../tape/lane.js';
import type { EngineCommand, Phase } from './engine-messages.js';
import type { CameraFact } from './facts.js';

/** What a page asks for, whoever plays. */
export type PlayCommand = Exclude<EngineCommand, { op: 'add' | 'remove' | 'resize' | 'token' }>;

export type PlayerEvents = {
  readonly onSkipped: (fromMs: number, toMs: number) => void;
  readonly onSnapshot: (camera: string, blob: Blob | null, shownMs: number) => void;
};

/** What an archive page plays with, whoever shows the pictures. */
export type ArchivePlayer = {
  readonly timeMs: { readonly value: number; peek(): number };
  readonly phase: { readonly value: Phase; peek(): Phase };
  readonly rate: { readonly value: number; peek(): number };
  readonly facts: { readonly value: ReadonlyMap<string, CameraFact> };
  /** Whether it can play single pictures, backwards, and as fast as one likes. */
  readonly isFull: boolean;
  mayPlay(rate: number): boolean;
  /** Shows a camera in an element of the page; the result ends that. */
  attach(camera: string, host: HTMLElement): () => void;
  send(command: PlayCommand): void;
  close(): void;
};

export const laneFacts = (lanes: ReadonlyMap<string, Lane>): PlayCommand => ({
  op: 'lanes',
  lanes: Object.fromEntries([...lanes].map(([id, { recorded, gaps }]) => [id, { recorded, gaps }])),
});
