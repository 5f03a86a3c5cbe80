import { serviceNowMs } from '../data/service-clock.js';
import { Button } from '../parts/button.js';
import { Select } from '../parts/select.js';
import { useShortcuts } from '../parts/use-shortcuts.js';
import { archiveText } from '../text/archive.js';
import styles from './archive.module.css';
import { type ArchiveControl, SPEEDS } from './archive-control.js';
import { bounded, zoomed } from './tape/axis.js';
import { durationText, NO_SELECTION, spanOf } from './tape/selection.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const ZOOM_STEP = 1.6;

export type ArchiveActions = {
  readonly onExport: () => void;
  readonly onGoTo: () => void;
  readonly onLive: () => void;
  readonly onLink: () => void;
};

const zoom = (control: ArchiveControl, factor: number): void => {
  control.view.value = bounded(zoomed(control.view.peek(), factor, control.timeMs.peek()), serviceNowMs());
};

/** What can be pressed, as the help tells it. */
export const useArchiveKeys = (control: ArchiveControl, actions: ArchiveActions): void =>
  useShortcuts({
    title: archiveText('keys'),
    shortcuts: [
      { keys: ['Space'], does: archiveText('keyPlay'), run: control.toggle },
      { keys: ['j'], does: archiveText('keyBack'), run: () => control.shuttle(-1) },
      { keys: ['k'], does: archiveText('pause'), run: control.pause },
      { keys: ['l'], does: archiveText('keyForward'), run: () => control.shuttle(1) },
      { keys: ['ArrowLeft'], does: archiveText('fiveBack'), run: () => control.onStep(-5 * SECOND_MS) },
      { keys: ['ArrowRight'], does: archiveText('fiveForward'), run: () => control.onStep(5 * SECOND_MS) },
      { keys: ['Shift+ArrowLeft'], does: archiveText('minuteBack'), run: () => control.onStep(-MINUTE_MS) },
      {
        keys: ['Shift+ArrowRight'],
        does: archiveText('minuteForward'),
        run: () => control.onStep(MINUTE_MS),
      },
      { keys: [','], does: archiveText('frameBack'), run: () => control.stepFrame(-1) },
      { keys: ['.'], does: archiveText('frameForward'), run: () => control.stepFrame(1) },
      { keys: ['['], does: archiveText('eventBack'), run: () => void control.toEvent(-1) },
      { keys: [']'], does: archiveText('eventForward'), run: () => void control.toEvent(1) },
      { keys: ['i'], does: archiveText('start'), run: control.setStart },
      { keys: ['o'], does: archiveText('end'), run: control.setEnd },
      { keys: ['e'], does: archiveText('export'), run: actions.onExport },
      { keys: ['g'], does: archiveText('goTo'), run: actions.onGoTo },
      { keys: ['t'], does: archiveText('toLive'), run: actions.onLive },
      { keys: ['s'], does: archiveText('snapshot'), run: () => control.snapshot() },
      { keys: ['d'], does: archiveText('boxes'), run: control.toggleBoxes },
      { keys: ['a'], does: archiveText('sound'), run: () => control.setSound(!control.isSoundOn.peek()) },
      { keys: ['+', '='], does: archiveText('keyZoomIn'), run: () => zoom(control, 1 / ZOOM_STEP) },
      { keys: ['-'], does: archiveText('keyZoomOut'), run: () => zoom(control, ZOOM_STEP) },
    ],
  });

const Steps = ({ control }: { readonly control: ArchiveControl }) => {
  const { isPlaying } = control;
  const { isFull } = control.player;
  const notHere = isFull ? {} : { isDisabled: true, title: archiveText('speedNeeds') };
  return (
    <div class={styles.group}>
      <Button icon="previous" label={archiveText('eventBack')} onClick={() => void control.toEvent(-1)} />
      <Button title={archiveText('fiveBack')} onClick={() => control.onStep(-5 * SECOND_MS)}>
        −5 s
      </Button>
      <Button
        icon="stepBack"
        label={archiveText('frameBack')}
        onClick={() => control.stepFrame(-1)}
        {...notHere}
      />
      <Button
        icon={isPlaying ? 'pause' : 'play'}
        kind="primary"
        label={archiveText(isPlaying ? 'pause' : 'play')}
        onClick={control.toggle}
      />
      <Button
        icon="stepForward"
        label={archiveText('frameForward')}
        onClick={() => control.stepFrame(1)}
        {...notHere}
      />
      <Button title={archiveText('fiveForward')} onClick={() => control.onStep(5 * SECOND_MS)}>
        +5 s
      </Button>
      <Button icon="next" label={archiveText('eventForward')} onClick={() => void control.toEvent(1)} />
    </div>
  );
};

const Speed = ({ control }: { readonly control: ArchiveControl }) => {
  const rate = control.isPlaying ? control.player.rate.value : control.speed.value;
  const speeds = rate < 0 || !SPEEDS.includes(rate as 1) ? [rate, ...SPEEDS] : SPEEDS;
  return (
    <Select
      label={archiveText('speed')}
      isLabelHidden
      value={String(rate)}
      options={speeds.map((speed) => ({
        value: String(speed),
        label: `${speed}x`,
        isDisabled: !control.player.mayPlay(speed),
      }))}
      onChange={(value) => control.setSpeed(Number(value))}
    />
  );
};

/** The moment, and everything that moves it. */
export const Transport = ({
  control,
  actions,
}: {
  readonly control: ArchiveControl;
  readonly actions: ArchiveActions;
}) => (
  <div class={styles.transport} role="toolbar" aria-label={archiveText('title')}>
    <Clock control={control} />
    <Steps control={control} />
    <div class={styles.group}>
      <Speed control={control} />
      <Button
        icon={control.isSoundOn.value ? 'sound' : 'mute'}
        label={archiveText('sound')}
        title={archiveText('soundAtOne')}
        isPressed={control.isSoundOn.value}
        onClick={() => control.setSound(!control.isSoundOn.peek())}
      />
      <Button
        icon="person"
        label={archiveText('boxes')}
        isPressed={control.hasBoxes.value}
        onClick={control.toggleBoxes}
      />
      <Button icon="snapshot" label={archiveText('snapshot')} onClick={() => control.snapshot()} />
      <Button icon="share" label={archiveText('link')} onClick={actions.onLink} />
      <Button icon="zoomOut" label={archiveText('zoomOut')} onClick={() => zoom(control, ZOOM_STEP)} />
      <Button icon="zoomIn" label={archiveText('zoomIn')} onClick={() => zoom(control, 1 / ZOOM_STEP)} />
    </div>
    <Range control={control} onExport={actions.onExport} />
  </div>
);

const PHASES = { waiting: 'waiting', end: 'atEnd', seeking: 'loading' } as const;

const Clock = ({ control }: { readonly control: ArchiveControl }) => {
  const zone = control.zone.value;
  const timeMs = control.timeMs.value;
  const phase = control.player.phase.value;
  const note = phase in PHASES ? archiveText(PHASES[phase as keyof typeof PHASES]) : '';
  return (
    <p class={styles.clock} data-phase={phase} data-time={timeMs}>
      <strong>{zone.clock(timeMs)}</strong>
      <small>{note === '' ? `${zone.dayOf(timeMs)} ${zone.name}` : note}</small>
    </p>
  );
};

const Range = ({
  control,
  onExport,
}: {
  readonly control: ArchiveControl;
  readonly onExport: () => void;
}) => {
  const selection = control.selection.value;
  const span = spanOf(selection);
  const hasAny = selection.fromMs !== null || selection.toMs !== null;
  return (
    <div class={styles.group}>
      <Button isPressed={selection.fromMs !== null} title={archiveText('start')} onClick={control.setStart}>
        {archiveText('in')}
      </Button>
      <Button isPressed={selection.toMs !== null} title={archiveText('end')} onClick={control.setEnd}>
        {archiveText('out')}
      </Button>
      {hasAny ? (
        <Button
          icon="close"
          kind="quiet"
          label={archiveText('clearSelection')}
          onClick={() => {
            control.selection.value = NO_SELECTION;
          }}
        />
      ) : null}
      <Button icon="download" kind={span === null ? 'plain' : 'primary'} onClick={onExport}>
        {archiveText('export')}
        {span === null ? null : <small>{durationText(span[1] - span[0])}</small>}
      </Button>
    </div>
  );
};
