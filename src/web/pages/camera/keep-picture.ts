import { serviceNowMs } from '../../data/service-clock.js';
import { call } from '../../data/session.js';

/** Has the browser keep the newest keyframe in full size as a file, named by its camera and its time. */
export const keepPicture = async (cameraId: string): Promise<void> => {
  const answer = await call('GET', `/api/cameras/${encodeURIComponent(cameraId)}/snapshot.jpg`);
  const taken = answer.headers.get('picture-time') ?? new Date(serviceNowMs()).toISOString();
  const address = URL.createObjectURL(await answer.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = `${cameraId} ${taken.replaceAll(':', '-')}.jpg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
};
