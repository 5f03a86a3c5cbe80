/** A part of the picture: x, y, width, height as fractions of it, origin top left. */
export type Box = readonly [x: number, y: number, width: number, height: number];

/** An object as a camera's own analytics tell of it. */
export type SceneObject = {
  readonly label: string;
  readonly score: number;
  readonly box: Box;
  /** What the camera calls it from picture to picture; "" where it doesn't say. */
  readonly trackId: string;
};

/** What a camera saw in one picture; nothing, too. */
export type Scene = {
  /** When the picture was taken, by the camera's clock; null where it doesn't say, or nothing that is a time. */
  readonly utcMs: number | null;
  readonly objects: readonly SceneObject[];
};

/** Something that a camera noticed: motion, or a rule that was set up in it. */
export type Notice = {
  readonly kind: 'motion' | 'rule';
  /** Tells it apart from all else that the camera may notice at the same time. */
  readonly key: string;
  /** The rule's name, or the topic. */
  readonly label: string;
  readonly topic: string;
  /** `once`: it has no duration, as a line that was crossed. */
  readonly state: 'on' | 'off' | 'once';
  readonly utcMs: number | null;
};

/** What a metadata document holds for us. */
export type Metadata = { readonly scenes: readonly Scene[]; readonly notices: readonly Notice[] };

/** Why a document isn't read. */
export type Refusal = { readonly refused: string };
