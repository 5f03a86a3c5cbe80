import type { LogFields, LogLevel } from '../../base/log.js';
import type { NatsLinkOptions } from '../nats-link.js';
import type { StoreQueue } from './beat.js';
import type { BoxesView, KnownBox } from './box-table.js';

/** What of a box stays as it is while it runs. */
export type OwnBox = {
  readonly name: string;
  readonly boot: string;
  readonly capacity: number;
  readonly address: string | null;
  readonly relayPort: number | null;
  readonly version: string;
};

/** What the thread is told at its start: nothing that doesn't go from thread to thread as it is. */
export type PulseSetup = {
  readonly link: Omit<NatsLinkOptions, 'ca' | 'login'> & {
    readonly ca: Uint8Array | null;
    readonly login: { readonly kind: 'creds' | 'nkey'; readonly secret: Uint8Array } | null;
  };
  readonly clusterName: string;
  /** What beats are sealed by. */
  readonly key: Uint8Array;
  readonly own: OwnBox;
  readonly lostMs: number;
  readonly known: readonly KnownBox[];
  /** No number of a beat up to this one is said again: one that died may have said it, and the wall clock may be back behind it. */
  readonly lastSeq: number;
  /** Where the main thread shows that it lives (base/thread-stats.ts). */
  readonly mainStats: SharedArrayBuffer;
};

export type ToPulse =
  /** How many cameras it has, and what waits to be copied. */
  | { readonly type: 'own'; readonly cameras: number; readonly store: StoreQueue | null }
  /** Nobody is to wait for this box any more. */
  | { readonly type: 'forget'; readonly box: string }
  /** This box hands its cameras over. */
  | { readonly type: 'leave' }
  /** Says goodbye, and ends the thread. */
  | { readonly type: 'stop' };

export type FromPulse =
  | {
      readonly type: 'boxes';
      readonly view: BoxesView;
      readonly known: readonly KnownBox[];
      /** The number of its last beat. */
      readonly seq: number;
      /** There is more that is new than how much they have to do. */
      readonly hasNews: boolean;
    }
  | { readonly type: 'log'; readonly level: LogLevel; readonly message: string; readonly fields: LogFields };
