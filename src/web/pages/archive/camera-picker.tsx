import { useState } from 'preact/hooks';
import { MAX_CAMERAS } from '../../archive/archive-control.js';
import { cameraList, nameOf } from '../../data/cameras.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { archiveText } from '../../text/archive.js';
import { shellText } from '../../text/shell.js';
import styles from './archive-page.module.css';

/** Up to nine cameras, the first one large. */
export const CameraPicker = ({
  chosen,
  onChoose,
  onClose,
}: {
  readonly chosen: readonly string[];
  readonly onChoose: (cameras: readonly string[]) => void;
  readonly onClose: () => void;
}) => {
  const [picked, setPicked] = useState(chosen);
  const [text, setText] = useState('');
  const found = cameraList.value.filter((camera) =>
    `${camera.id} ${nameOf(camera)} ${camera.tags.join(' ')}`.toLowerCase().includes(text.toLowerCase()),
  );
  const toggle = (id: string): void =>
    setPicked(picked.includes(id) ? picked.filter((each) => each !== id) : [...picked, id]);
  return (
    <Dialog
      title={archiveText('chooseCameras')}
      onClose={onClose}
      onSubmit={() => onChoose(picked)}
      footer={
        <Button type="submit" kind="primary" isDisabled={picked.length === 0}>
          {shellText('done')}
        </Button>
      }
    >
      <input
        class={styles.find}
        type="search"
        aria-label={archiveText('findCamera')}
        placeholder={archiveText('findCamera')}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <p class={styles.hint}>{archiveText('atMost', { count: MAX_CAMERAS })}</p>
      <ul class={styles.choices}>
        {found.map((camera) => (
          <li key={camera.id}>
            <label class={styles.choice}>
              <input
                type="checkbox"
                checked={picked.includes(camera.id)}
                disabled={!picked.includes(camera.id) && picked.length >= MAX_CAMERAS}
                onChange={() => toggle(camera.id)}
              />
              {nameOf(camera)}
            </label>
          </li>
        ))}
      </ul>
    </Dialog>
  );
};
