import type { ServerResponse } from 'node:http';
import type { Viewers } from '../auth/viewers.js';

/**
 * Makes and sends what may take hours: whoever may not watch any more is not sent the rest. `cameraId`: null where the right is
 * the user's alone. `shows`: cameras that must be in sight, too.
 */
export const whileAllowed = async (
  viewers: Pick<Viewers, 'takePlace'>,
  cameraId: string | null,
  username: string | null,
  response: ServerResponse,
  send: () => Promise<void>,
  shows: readonly string[] = [],
): Promise<void> => {
  const place = viewers.takePlace(cameraId, username, () => response.destroy(), { isLive: false, shows });
  try {
    await send();
  } finally {
    place.release();
  }
};
