import type { GapSpan, Span } from '../tape/lane.js';
import type { CameraFact } from './facts.js';
import type { DecodedSound } from './sound-decoder.js';

/** What is known of a camera's recordings, as far as play has to know it. */
export type KnownLane = { readonly recorded: readonly Span[]; readonly gaps: readonly GapSpan[] };

/** From the page to the worker that plays. */
export type EngineCommand =
  | { readonly op: 'add'; readonly camera: string; readonly canvas: OffscreenCanvas }
  | { readonly op: 'remove'; readonly camera: string }
  | { readonly op: 'resize'; readonly camera: string; readonly width: number; readonly height: number }
  | { readonly op: 'large'; readonly camera: string }
  | { readonly op: 'lanes'; readonly lanes: Readonly<Record<string, KnownLane>> }
  | { readonly op: 'seek'; readonly timeMs: number }
  | { readonly op: 'scrub'; readonly timeMs: number }
  | { readonly op: 'play'; readonly rate: number }
  | { readonly op: 'pause' }
  | { readonly op: 'step'; readonly direction: 1 | -1 }
  | { readonly op: 'snapshot'; readonly camera: string }
  | { readonly op: 'sound'; readonly isOn: boolean }
  | { readonly op: 'token'; readonly token: string };

/** `end`: nothing is recorded behind; it waits, and goes on when there is. */
export type Phase = 'paused' | 'seeking' | 'scrubbing' | 'playing' | 'waiting' | 'end';

/** From the worker to the page. */
export type EngineReport =
  | {
      readonly kind: 'position';
      readonly timeMs: number;
      readonly phase: Phase;
      readonly rate: number;
      readonly cameras: readonly CameraFact[];
    }
  | { readonly kind: 'skipped'; readonly fromMs: number; readonly toMs: number }
  | {
      readonly kind: 'snapshot';
      readonly camera: string;
      readonly blob: Blob | null;
      readonly shownMs: number;
    }
  | { readonly kind: 'sound'; readonly sound: DecodedSound }
  | { readonly kind: 'token'; readonly isRefused: boolean };
