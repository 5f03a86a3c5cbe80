import type { Element } from '../../analytics/xml-tree.js';

/** One of a camera's streams as it is now. */
export type ShownStream = {
  readonly stream: 'main' | 'sub';
  /** "" until it has been seen. */
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  readonly fps: number;
  readonly bitrateKbps: number;
};

export type ShownCamera = { readonly id: string; readonly streams: readonly ShownStream[] };

/** What the service is called to whoever asks: by the name or the address that it was asked by. */
export type Addresses = {
  readonly device: string;
  readonly media: string;
  readonly media2: string;
  /** The address of this machine that was reached. */
  readonly reached: string;
  rtsp(cameraId: string, stream: ShownStream['stream']): string;
  snapshot(cameraId: string, stream: ShownStream['stream']): string;
};

/** A question, and what may be answered. */
export type Call = {
  readonly element: Element;
  readonly addresses: Addresses;
  /** That whoever asks may see; throws where that is none. */
  readonly cameras: () => readonly ShownCamera[];
};

/** What a service knows, by the names of its operations. */
export type Operations = ReadonlyMap<string, Operation>;
export type Operation = {
  /** Whether everybody may ask (ONVIF Core, access class PRE_AUTH). */
  readonly isForAll?: true;
  /** The inside of the answer. */
  readonly answer: (call: Call) => string;
};
