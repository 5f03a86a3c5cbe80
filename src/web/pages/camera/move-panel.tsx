import { useEffect, useMemo, useState } from 'preact/hooks';
import { asProblem, type Problem } from '../../data/problem.js';
import { api } from '../../data/session.js';
import type { Preset } from '../../data/types.js';
import { Button } from '../../parts/button.js';
import { Icon } from '../../parts/icon.js';
import type { IconName } from '../../parts/icons.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { useAction, useLoaded } from '../../parts/use-action.js';
import { useShortcuts } from '../../parts/use-shortcuts.js';
import { moveText } from '../../text/move-camera.js';
import { MoveHold, type Speed } from './move-hold.js';
import styles from './move-panel.module.css';

type Way = 'left' | 'right' | 'up' | 'down' | 'closer' | 'wider';

const SPEED = 0.5;
const speeds: Readonly<Record<Way, Speed>> = {
  left: { pan: -SPEED },
  right: { pan: SPEED },
  up: { tilt: SPEED },
  down: { tilt: -SPEED },
  closer: { zoom: SPEED },
  wider: { zoom: -SPEED },
};
const icons: Readonly<Record<Way, IconName>> = {
  ...{ left: 'left', right: 'right', up: 'up', down: 'down', closer: 'zoomIn', wider: 'zoomOut' },
};
const keysOf: Readonly<Record<Way, readonly string[]>> = {
  left: ['ArrowLeft'],
  right: ['ArrowRight'],
  up: ['ArrowUp'],
  down: ['ArrowDown'],
  closer: ['+', '='],
  wider: ['-'],
};
const ways = Object.keys(speeds) as Way[];

const every = (periodMs: number, callback: () => void): (() => void) => {
  const timer = setInterval(callback, periodMs);
  return () => clearInterval(timer);
};

/** Held as long as somebody presses; let go wherever the finger, the key or the page goes. */
const useHold = (path: string, onProblem: (problem: Problem | null) => void): MoveHold => {
  const hold = useMemo(
    () =>
      new MoveHold({
        every,
        send: async (body) => {
          try {
            await api('POST', path, { body });
            onProblem(null);
          } catch (fault) {
            onProblem(asProblem(fault));
            throw fault;
          }
        },
      }),
    [path],
  );
  useEffect(() => {
    const end = (): void => hold.end();
    window.addEventListener('keyup', end);
    window.addEventListener('blur', end);
    document.addEventListener('visibilitychange', end);
    return () => {
      end();
      window.removeEventListener('keyup', end);
      window.removeEventListener('blur', end);
      document.removeEventListener('visibilitychange', end);
    };
  }, [hold]);
  return hold;
};

const WayButton = ({ way, hold }: { readonly way: Way; readonly hold: MoveHold }) => (
  <button
    type="button"
    class={`${styles.way} ${styles[way]}`}
    aria-label={moveText(way)}
    title={moveText(way)}
    onPointerDown={(event) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      hold.begin(speeds[way]);
    }}
    onLostPointerCapture={() => hold.end()}
    onContextMenu={(event) => event.preventDefault()}
    onKeyDown={(event) => {
      if (event.key === ' ' || event.key === 'Enter') hold.begin(speeds[way]);
    }}
  >
    <Icon name={icons[way]} />
  </button>
);

const Presets = ({ path }: { readonly path: string }) => {
  const presets = useLoaded<Preset[]>((signal) => api('GET', `${path}/presets`, { signal }), path);
  const [name, setName] = useState('');
  const change = useAction(async (does: () => Promise<unknown>) => {
    await does();
    presets.reload();
  });
  const goTo = useAction(async (preset: string) => {
    await api('POST', path, { body: { preset } });
  });
  const list = presets.value ?? [];
  const problem = presets.problem ?? change.problem ?? goTo.problem;
  return (
    <>
      {problem === null ? null : (
        <ProblemBox what={moveText('presetsFailed')} problem={problem} onRetry={presets.reload} />
      )}
      <ul class={styles.presets} aria-label={moveText('presets')}>
        {list.map((preset) => (
          <li key={preset.token}>
            <Button
              title={moveText('goTo', { name: preset.name })}
              onClick={() => void goTo.run(preset.token)}
            >
              {preset.name}
            </Button>
            <Button
              icon="remove"
              kind="quiet"
              label={moveText('forget', { name: preset.name })}
              onClick={() =>
                void change.run(() => api('DELETE', `${path}/presets/${encodeURIComponent(preset.token)}`))
              }
            />
          </li>
        ))}
      </ul>
      {presets.value !== null && list.length === 0 ? <p>{moveText('noPresets')}</p> : null}
      <form
        class={styles.keep}
        onSubmit={(event) => {
          event.preventDefault();
          void change.run(() => api('POST', `${path}/presets`, { body: { name } })).then(() => setName(''));
        }}
      >
        <input
          value={name}
          maxLength={64}
          aria-label={moveText('keepName')}
          placeholder={moveText('keepName')}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" icon="save" label={moveText('keep')} isDisabled={name.trim() === ''} />
      </form>
    </>
  );
};

/** Moves a camera for as long as something is held down, and sends it to the places that it keeps. */
export const MovePanel = ({ id }: { readonly id: string }) => {
  const path = `/api/cameras/${encodeURIComponent(id)}/ptz`;
  const [problem, setProblem] = useState<Problem | null>(null);
  const hold = useHold(path, setProblem);
  useShortcuts({
    title: moveText('keys'),
    shortcuts: ways.map((way) => ({
      keys: keysOf[way],
      does: moveText(way),
      run: () => hold.begin(speeds[way]),
    })),
  });
  return (
    <aside class={styles.panel} aria-label={moveText('open')}>
      <div class={styles.pad} title={moveText('hold')}>
        {ways.map((way) => (
          <WayButton key={way} way={way} hold={hold} />
        ))}
      </div>
      {problem === null ? null : <ProblemBox what={moveText('failed')} problem={problem} />}
      <Presets path={path} />
    </aside>
  );
};
