import { useEffect, useRef } from 'preact/hooks';
import { navigate, query, setQuery } from '../../data/route.js';
import { me } from '../../data/session.js';
import { Button } from '../../parts/button.js';
import { Icon } from '../../parts/icon.js';
import { PageBody, Panel } from '../../parts/page-head.js';
import { setupText } from '../../text/setup.js';
import type { PageProps } from '../table.js';
import { CameraStep } from './camera-step.js';
import { HttpsStep } from './https-step.js';
import { PasswordStep } from './password-step.js';
import styles from './setup.module.css';
import { ZoneStep } from './zone-step.js';

const steps = [
  { name: 'password', View: PasswordStep },
  { name: 'zone', View: ZoneStep },
  { name: 'https', View: HttpsStep },
  { name: 'camera', View: CameraStep },
] as const;

const firstStep = (): number => (me.value?.must_change_password === true ? 0 : 1);

/** The first start: from a printed password to a picture. Where one is stands in the address. */
export const page = (_props: PageProps) => {
  const wanted = steps.findIndex(({ name }) => name === query.value.get('step'));
  // Whoever has a password of their own needs no other; whoever has none gets to it by the banner.
  const at = Math.max(wanted, wanted === -1 ? firstStep() : 0);
  const panel = useRef<HTMLDivElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) panel.current?.querySelector<HTMLElement>('input, select, button')?.focus();
    isFirst.current = false;
  }, [at]);
  const step = steps[at] ?? steps[0];
  const onDone = (): void => {
    const next = steps[at + 1];
    if (next === undefined) navigate('/');
    else setQuery({ step: next.name });
  };
  return (
    <PageBody
      title={setupText('title')}
      isNarrow
      actions={
        <Button kind="quiet" onClick={() => navigate('/')}>
          {setupText('skipAll')}
        </Button>
      }
    >
      <ol class={styles.steps} aria-label={setupText('steps')}>
        {steps.map(({ name }, index) => (
          <li
            key={name}
            class={index < at ? styles.isDone : ''}
            aria-current={index === at ? 'step' : undefined}
          >
            <span class={styles.number}>{index < at ? <Icon name="check" /> : index + 1}</span>
            {setupText(name)}
          </li>
        ))}
      </ol>
      <div ref={panel}>
        <Panel title={setupText(step.name)}>
          <step.View key={step.name} onDone={onDone} />
        </Panel>
      </div>
    </PageBody>
  );
};
