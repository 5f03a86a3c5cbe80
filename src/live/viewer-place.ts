/** A viewer's place (auth/README.md): told when it must end, released when the viewer has gone. */
export type ViewerPlace = {
  onEnd(listener: (reason: 'camera_deleted' | 'access_withdrawn') => void): void;
  release(): void;
};
