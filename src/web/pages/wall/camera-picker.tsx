import { useEffect, useRef, useState } from 'preact/hooks';
import { cameraList, nameOf } from '../../data/cameras.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { wallText } from '../../text/wall.js';
import styles from './wall.module.css';

/** More than this many nobody looks through: typing finds them. */
const MAX_SHOWN = 60;

/** One of all cameras, found by a part of its name. */
export const CameraPicker = (props: {
  readonly title: string;
  readonly mayLeaveEmpty?: boolean;
  readonly onClose: () => void;
  readonly onPick: (cameraId: string | null) => void;
}) => {
  const [text, setText] = useState('');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const wanted = text.trim().toLowerCase();
  const found = cameraList.value.filter((camera) =>
    `${camera.id} ${nameOf(camera)}`.toLowerCase().includes(wanted),
  );
  return (
    <Dialog
      title={props.title}
      onClose={props.onClose}
      onSubmit={() => found[0] !== undefined && props.onPick(found[0].id)}
      {...(props.mayLeaveEmpty === true
        ? { footer: <Button onClick={() => props.onPick(null)}>{wallText('leaveEmpty')}</Button> }
        : {})}
    >
      <Field label={wallText('search')}>
        {(given) => (
          <input
            {...given}
            ref={input}
            type="search"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <ul class={styles.picker}>
        {found.slice(0, MAX_SHOWN).map((camera) => (
          <li key={camera.id}>
            <button type="button" onClick={() => props.onPick(camera.id)}>
              <Icon name="cctv" />
              {nameOf(camera)}
              {nameOf(camera) === camera.id ? null : <small>{camera.id}</small>}
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p>{wallText('pickNone')}</p> : null}
    </Dialog>
  );
};
