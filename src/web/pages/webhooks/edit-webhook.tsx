import { useState } from 'preact/hooks';
import { cameraList } from '../../data/cameras.js';
import { api } from '../../data/session.js';
import type { MadeWebhook, Webhook } from '../../data/types.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { useAction } from '../../parts/use-action.js';
import { eventsText } from '../../text/events.js';
import { shellText } from '../../text/shell.js';
import { webhooksText } from '../../text/webhooks.js';
import styles from './webhooks.module.css';

const types = ['camera_lost', 'recording_gap', 'storage', 'detection', 'motion', 'rule'] as const;
type Type = (typeof types)[number];

export const typeText = (type: Type): string => eventsText(`type_${type}`);

const toggled = <Id extends string>(list: readonly Id[], id: Id): Id[] =>
  list.includes(id) ? list.filter((each) => each !== id) : [...list, id];

const Choices = <Id extends string>({
  title,
  hint,
  all,
  nameOf,
  chosen,
  onChange,
}: {
  readonly title: string;
  readonly hint: string;
  readonly all: readonly Id[];
  readonly nameOf: (id: Id) => string;
  readonly chosen: readonly Id[];
  readonly onChange: (chosen: Id[]) => void;
}) => (
  <fieldset class={styles.choices}>
    <legend>{title}</legend>
    <div class={styles.list}>
      {all.map((id) => (
        <label key={id} class={styles.choice}>
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={() => onChange(toggled(chosen, id))}
          />
          <span>{nameOf(id)}</span>
        </label>
      ))}
    </div>
    <small>{hint}</small>
  </fieldset>
);

const TextField = ({
  name,
  label,
  hint,
  value,
  isRequired = false,
  onInput,
}: {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly isRequired?: boolean;
  readonly onInput: (text: string) => void;
}) => (
  <Field label={label} {...(hint === undefined ? {} : { hint })}>
    {(given) => (
      <input
        {...given}
        name={name}
        value={value}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        required={isRequired}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    )}
  </Field>
);

/** A new one, or one that is changed. */
export const EditWebhook = ({
  webhook,
  onClose,
  onDone,
}: {
  readonly webhook: Webhook | null;
  readonly onClose: () => void;
  readonly onDone: (saved: Webhook | MadeWebhook) => void;
}) => {
  const [name, setName] = useState(webhook?.name ?? '');
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [chosenTypes, setTypes] = useState<readonly Type[]>(webhook?.types ?? []);
  const [cameraIds, setCameraIds] = useState<readonly string[]>(webhook?.camera_ids ?? []);
  const [labels, setLabels] = useState((webhook?.labels ?? []).join(', '));
  const [enabled, setEnabled] = useState(webhook?.enabled ?? true);
  const save = useAction(async () => {
    const body = {
      ...{ name, url, enabled, types: chosenTypes, camera_ids: cameraIds },
      labels: labels.split(',').flatMap((label) => label.trim() || []),
    };
    onDone(
      webhook === null
        ? await api<MadeWebhook>('POST', '/api/webhooks', { body })
        : await api<Webhook>('PUT', `/api/webhooks/${webhook.id}`, { body }),
    );
  });
  const known = cameraList.value.map(({ id }) => id);
  const action = webhook === null ? webhooksText('add') : shellText('save');
  return (
    <Dialog
      title={webhook === null ? webhooksText('addTitle') : webhooksText('editTitle', { name: webhook.name })}
      onClose={onClose}
      onSubmit={() => void save.run()}
      footer={
        <>
          <Button onClick={onClose}>{shellText('cancel')}</Button>
          <Button type="submit" kind="primary" isDisabled={save.isBusy}>
            {action}
          </Button>
        </>
      }
    >
      <TextField name="webhook-name" label={webhooksText('name')} value={name} isRequired onInput={setName} />
      <TextField
        name="webhook-url"
        label={webhooksText('url')}
        hint={webhooksText('urlHint')}
        value={url}
        isRequired
        onInput={setUrl}
      />
      <Choices
        title={webhooksText('types')}
        hint={webhooksText('typesHint')}
        all={types}
        nameOf={typeText}
        chosen={chosenTypes}
        onChange={setTypes}
      />
      <Choices
        title={webhooksText('cameras')}
        hint={webhooksText('camerasHint')}
        all={[...new Set([...known, ...cameraIds])]}
        nameOf={(id) => id}
        chosen={cameraIds}
        onChange={setCameraIds}
      />
      <TextField
        name="webhook-labels"
        label={webhooksText('labels')}
        hint={webhooksText('labelsHint')}
        value={labels}
        onInput={setLabels}
      />
      <label class={styles.choice}>
        <input
          type="checkbox"
          checked={enabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
        <span>
          {webhooksText('enabled')} <small>{webhooksText('enabledHint')}</small>
        </span>
      </label>
      {save.problem === null ? null : <ProblemBox what={action} problem={save.problem} />}
    </Dialog>
  );
};
