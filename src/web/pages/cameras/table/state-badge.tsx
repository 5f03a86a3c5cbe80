import type { Camera } from '../../../data/types.js';
import { Icon } from '../../../parts/icon.js';
import type { IconName } from '../../../parts/icons.js';
import { camerasText, stateText } from '../../../text/cameras.js';
import styles from './table.module.css';

const looks: Readonly<Record<Camera['state'], readonly [icon: IconName, tone: string | undefined]>> = {
  connecting: ['refresh', styles.accent],
  streaming: ['ok', styles.ok],
  reconnecting: ['refresh', styles.warn],
  error: ['warning', styles.danger],
  disabled: ['minus', styles.plain],
  traffic_limited: ['fault', styles.warn],
  standby: ['moon', styles.plain],
};

/** Drawing, word and colour; and below it why, where something is wrong. */
export const StateCell = ({ camera }: { readonly camera: Camera }) => {
  const [icon, tone] = looks[camera.state];
  return (
    <div class={styles.two}>
      <span class={`${styles.state} ${tone}`}>
        <Icon name={icon} />
        {stateText(camera.state)}
      </span>
      {camera.last_error === '' ? null : (
        <small class={styles.why} title={camera.last_error}>
          {camera.last_error}
        </small>
      )}
    </div>
  );
};

/** What is asked for, and what is done. */
export const RecordingCell = ({
  camera: { record, recording, record_error: why },
}: {
  readonly camera: Camera;
}) => {
  if (!record && !recording) return <span class={styles.off}>{camerasText('recordingOff')}</span>;
  if (why !== '')
    return (
      <span class={`${styles.state} ${styles.danger}`} title={why}>
        <Icon name="warning" />
        {camerasText('recordingFails')}
        <span class="visually-hidden">{why}</span>
      </span>
    );
  return (
    <span class={`${styles.state} ${recording ? styles.danger : styles.warn}`}>
      <Icon name={recording ? 'record' : 'clock'} />
      {camerasText(recording ? 'recordingOn' : 'recordingWaits')}
    </span>
  );
};
