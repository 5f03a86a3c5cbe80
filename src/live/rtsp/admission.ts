import type { StreamName } from '../../ring/source-key.js';
import type { ViewerPlace } from '../viewer-place.js';
import type { WatchedStream } from './watched-stream.js';

/** What a viewer shows at the door. */
export type Shown = {
  readonly token: string | null;
  readonly login: { readonly username: string; readonly password: string } | null;
  /** Where it comes from, for what counts failed logins. */
  readonly address: string;
};

/** The place of a viewer that was let in, and the source of frames that it sees (ring/source-key.ts). */
export type Admitted = { readonly place: ViewerPlace; readonly source: string };

/** Lets a viewer in to a stream of a camera, or rejects with an AppError whose code says why not. */
export type RtspAccess = (cameraId: string, stream: StreamName, shown: Shown) => Promise<Admitted>;

/** A viewer that was let in to a camera: its place, and the stream. Ends when nobody holds it, or when it must. */
export class Admission {
  readonly cameraId: string;
  /** What the client asked for. */
  readonly stream: StreamName;
  readonly watched: WatchedStream;
  readonly #place: ViewerPlace;
  readonly #holders = new Set<(reason: string) => void>();
  readonly #unlisten: () => void;

  constructor(
    { cameraId, stream }: Pick<Admission, 'cameraId' | 'stream'>,
    place: ViewerPlace,
    watched: WatchedStream,
  ) {
    this.cameraId = cameraId;
    this.stream = stream;
    this.#place = place;
    this.watched = watched;
    this.#unlisten = watched.onEnd((reason) => this.#end(reason));
    place.onEnd((reason) =>
      this.#end(reason === 'camera_deleted' ? 'the camera was deleted' : 'access was withdrawn'),
    );
  }

  /** Holds it; `onEnd` is told when it must end, and lets go then. Returns what lets go. */
  hold(onEnd: (reason: string) => void): () => void {
    this.#holders.add(onEnd);
    return () => {
      if (!this.#holders.delete(onEnd) || this.#holders.size > 0) return;
      this.#unlisten();
      this.#place.release();
      this.watched.leave();
    };
  }

  #end(reason: string): void {
    // Sessions came after their connection, and have something to say by it yet.
    for (const onEnd of [...this.#holders].reverse()) onEnd(reason);
  }
}
