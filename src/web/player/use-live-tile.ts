import { useEffect, useState } from 'preact/hooks';
import { livePlayer } from './live-player.js';
import type { LiveTile, TileWish } from './live-tile.js';

/** A tile of a camera for as long as the part is drawn; null at its first drawing. */
export const useLiveTile = (
  cameraId: string,
  wish: Partial<Omit<TileWish, 'cameraId'>> = {},
): LiveTile | null => {
  const [tile, setTile] = useState<LiveTile | null>(null);
  useEffect(() => {
    const made = livePlayer().add({ cameraId, ...wish });
    setTile(made);
    return () => {
      made.close();
      setTile(null);
    };
  }, [cameraId]);
  useEffect(() => tile?.change(wish), [tile, JSON.stringify(wish)]);
  return tile?.wish.cameraId === cameraId ? tile : null;
};
