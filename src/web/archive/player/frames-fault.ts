/** Why there are no frames: `none` was recorded then, the user may not see them, or the service didn't answer. */
export class FramesFault extends Error {
  readonly kind: 'none' | 'refused' | 'busy' | 'failed';

  constructor(kind: FramesFault['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
