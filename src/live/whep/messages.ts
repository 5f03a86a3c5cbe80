import type { LogFields, LogLevel } from '../../base/log.js';
import type { WhepErrorCode } from './errors.js';
import type { Remote } from './path/ice-lite.js';
import type { DtlsCertificate } from './secure/certificate.js';

/** What a WHEP worker is started with. */
export type WhepWorkerOptions = {
  /** Shared by all workers, so that a session costs no key. */
  readonly certificate: DtlsCertificate;
  /** The port that all sessions share; the main thread hears there who has no session's socket yet. */
  readonly udpPort: number;
};

/** What the main thread tells a WHEP worker. */
export type ToWhepWorker =
  /** Where a camera's frames are from now on; `bellId` names the bell, which is another object in each thread. */
  | {
      readonly type: 'feed';
      readonly cameraId: string;
      readonly ring: SharedArrayBuffer;
      readonly bell: SharedArrayBuffer;
      readonly bellId: number;
    }
  /** Nobody watches the camera any more, or it is gone: ends what sessions there are. */
  | { readonly type: 'forget'; readonly cameraId: string }
  | {
      readonly type: 'offer';
      readonly sessionId: string;
      /** Names the session in the viewer's checks. */
      readonly iceUfrag: string;
      readonly cameraId: string;
      /** Announced in the answer: the machine's may be others than those of the last one. */
      readonly addresses: readonly string[];
      readonly sdp: string;
    }
  /** A connectivity check from an address that hasn't a socket yet. */
  | {
      readonly type: 'check';
      readonly sessionId: string;
      readonly datagram: Uint8Array;
      readonly from: Remote;
    }
  | { readonly type: 'end'; readonly sessionId: string; readonly reason: string }
  /** Ends all sessions, then the thread. */
  | { readonly type: 'stop' };

/** What a WHEP worker tells the main thread. */
export type FromWhepWorker =
  /** Once, first of all: where the thread publishes its figures (base/thread-stats.ts). */
  | { readonly type: 'thread'; readonly stats: SharedArrayBuffer }
  | { readonly type: 'answer'; readonly sessionId: string; readonly sdp: string }
  | {
      readonly type: 'refused';
      readonly sessionId: string;
      readonly code: WhepErrorCode;
      readonly message: string;
    }
  /** The handshakes of a session are done. */
  | { readonly type: 'connected'; readonly sessionId: string }
  /** A session that was answered is over, whoever ended it. */
  | { readonly type: 'ended'; readonly sessionId: string; readonly reason: string }
  /** Frames that viewers of the camera have missed since the last such message. */
  | { readonly type: 'dropped'; readonly cameraId: string; readonly frames: number }
  | { readonly type: 'log'; readonly level: LogLevel; readonly message: string; readonly fields: LogFields };
