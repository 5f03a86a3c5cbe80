import { folders, tags } from '../../../data/cameras.js';
import { Button } from '../../../parts/button.js';
import { Dialog } from '../../../parts/dialog.js';
import { Field } from '../../../parts/field.js';
import { ProblemBox } from '../../../parts/problem-box.js';
import { Banner, Skeleton } from '../../../parts/states.js';
import { editText } from '../../../text/edit-camera.js';
import { shellText } from '../../../text/shell.js';
import { TestResult } from '../many/test-result.js';
import { useAskBeforeLeaving } from '../use-ask-before-leaving.js';
import { BoxField } from './box-field.js';
import { DetectionFields } from './detection/detection-fields.js';
import styles from './edit.module.css';
import { changedNames, type SettingName } from './form.js';
import { OnvifFields } from './onvif-fields.js';
import { QuirkFields } from './quirk-fields.js';
import {
  ChoiceSetting,
  Conflict,
  FlagSetting,
  LongTextSetting,
  NumberSetting,
  Section,
  TextSetting,
} from './setting-fields.js';
import { type AddressTest, type Edit, type StreamName, useEdit } from './use-edit.js';

const testOf = (edit: Edit, stream: StreamName): AddressTest | null => {
  const test = edit.tests[stream];
  const draft = edit.form?.draft;
  const url = (stream === 'main' ? draft?.url : draft?.sub_url)?.trim();
  return test !== undefined && test.url === url && test.transport === draft?.transport ? test : null;
};

const TestLine = ({ edit, stream }: { readonly edit: Edit; readonly stream: StreamName }) => {
  const test = testOf(edit, stream);
  const url = stream === 'main' ? edit.form?.draft.url : edit.form?.draft.sub_url;
  if (stream === 'sub' && (url ?? '') === '') return null;
  return (
    <div class={styles.test}>
      <Button
        isDisabled={(url ?? '') === '' || test?.state.step === 'running'}
        onClick={() => edit.test(stream)}
      >
        {editText(stream === 'main' ? 'test' : 'testSub')}
      </Button>
      {test === null ? null : <TestResult state={test.state} />}
    </div>
  );
};

const TagChoice = ({ edit }: { readonly edit: Edit }) => {
  const chosen = edit.form?.draft.tags ?? [];
  const names = new Map(tags.value.map(({ id, name }) => [id, name]));
  const ids = [...new Set([...names.keys(), ...chosen])];
  if (ids.length === 0) return null;
  return (
    <fieldset class={styles.tags}>
      <legend>{editText('tags')}</legend>
      {ids.map((id) => (
        <label key={id}>
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={({ currentTarget: { checked } }) =>
              edit.set({ tags: checked ? [...chosen, id] : chosen.filter((each) => each !== id) })
            }
          />
          {names.get(id) ?? id}
        </label>
      ))}
      <Conflict edit={edit} name="tags" />
    </fieldset>
  );
};

const IdField = ({ edit }: { readonly edit: Edit }) => {
  const fault = edit.faults.get('id');
  return (
    <Field label={editText('id')} hint={editText('idHint')} {...(fault === undefined ? {} : { fault })}>
      {(given) => (
        <input
          {...given}
          required
          maxLength={64}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={edit.newId}
          onInput={(event) => edit.setNewId(event.currentTarget.value)}
        />
      )}
    </Field>
  );
};

const AddressSection = ({ edit }: { readonly edit: Edit }) => (
  <Section title={editText('address')}>
    {edit.id === null ? <IdField edit={edit} /> : null}
    <TextSetting edit={edit} name="url" hint={editText(edit.id === null ? 'urlHint' : 'urlMasked')} />
    <TestLine edit={edit} stream="main" />
    <TextSetting edit={edit} name="sub_url" hint={editText('sub_urlHint')} />
    <TestLine edit={edit} stream="sub" />
    <ChoiceSetting
      edit={edit}
      name="transport"
      options={[
        ['tcp', 'TCP'],
        ['udp', 'UDP'],
      ]}
    />
  </Section>
);

const OtherSections = ({ edit }: { readonly edit: Edit }) => (
  <>
    <Section title={editText('access')}>
      <LongTextSetting edit={edit} name="comment" hint={editText('commentHint')} />
      <ChoiceSetting
        edit={edit}
        name="folder_id"
        options={[['', editText('noFolder')], ...folders.value.map(({ id, name }) => [id, name] as const)]}
      />
      <TagChoice edit={edit} />
      <FlagSetting edit={edit} name="token_auth" hint={editText('token_authHint')} />
      <BoxField edit={edit} />
    </Section>
    <Section title={editText('recording')}>
      <FlagSetting edit={edit} name="record" hint={editText('recordHint')} />
      <ChoiceSetting
        edit={edit}
        name="record_mode"
        hint={editText(edit.form?.draft.record_mode === 'events' ? 'by_eventsHint' : 'continuousHint')}
        options={[
          ['continuous', editText('continuous')],
          ['events', editText('by_events')],
        ]}
      />
      <NumberSetting edit={edit} name="retention_days" hint={editText('retention_daysHint')} />
      <NumberSetting edit={edit} name="event_retention_days" hint={editText('event_retention_daysHint')} />
    </Section>
    <Section title={editText('stream')}>
      <FlagSetting edit={edit} name="disabled" hint={editText('disabledHint')} />
      <FlagSetting edit={edit} name="on_demand" hint={editText('on_demandHint')} />
      <FlagSetting edit={edit} name="lazy_hls" hint={editText('lazy_hlsHint')} />
    </Section>
    <DetectionFields edit={edit} />
    <Section title={editText('mobile')}>
      <NumberSetting edit={edit} name="traffic_limit" hint={editText('traffic_limitHint')} />
      <TextSetting edit={edit} name="sim_phone" />
      <TextSetting edit={edit} name="sim_iccid" />
    </Section>
    <OnvifFields edit={edit} />
    <QuirkFields edit={edit} />
  </>
);

/** What others did meanwhile. */
const Meanwhile = ({ edit }: { readonly edit: Edit }) => {
  if (edit.isGone) return <Banner tone="danger">{editText('gone')}</Banner>;
  const taken: readonly SettingName[] = [...(edit.form?.taken ?? [])];
  if (taken.length === 0) return null;
  return (
    <Banner tone="warn">
      {editText('others', { names: taken.map((name) => editText(name)).join(', ') })}
    </Banner>
  );
};

/** Whether what is to be saved was seen to work. */
const untestedText = (edit: Edit): string => {
  if (edit.form === null) return '';
  const { base, draft } = edit.form;
  const changed = new Set(changedNames(base, draft));
  const isOther = (name: 'url' | 'sub_url'): boolean => changed.has(name) || changed.has('transport');
  const streams = [
    ...(isOther('url') && draft.url !== '' ? (['main'] as const) : []),
    ...(isOther('sub_url') && draft.sub_url !== '' ? (['sub'] as const) : []),
  ];
  const states = streams.map((stream) => testOf(edit, stream)?.state);
  if (states.some((state) => state?.step === 'done' && !state.result.ok)) return editText('testFailed');
  return states.some((state) => state?.step !== 'done') ? editText('untested') : '';
};

/** All settings of a camera, or of a new one. */
export const EditCamera = (props: {
  /** null: a new one. */
  readonly id: string | null;
  readonly folderId: string;
  readonly onClose: () => void;
  readonly onDelete: (id: string) => void;
}) => {
  const { id, onClose, onDelete } = props;
  const edit = useEdit(id, props.folderId, onClose);
  const question = { title: editText('leaveTitle'), text: editText('leaveText'), action: editText('leave') };
  const mayLeave = useAskBeforeLeaving(edit.isChanged, question);
  const leave = async (): Promise<void> => {
    if (await mayLeave()) onClose();
  };
  const footer = (
    <>
      <span class={styles.untested}>{untestedText(edit)}</span>
      {id === null ? null : (
        <Button kind="danger" onClick={() => onDelete(id)}>
          {editText('delete')}
        </Button>
      )}
      <Button onClick={() => void leave()}>{shellText('cancel')}</Button>
      <Button
        type="submit"
        kind="primary"
        isDisabled={!edit.isChanged || edit.isSaving || edit.isGone || !edit.isFit}
      >
        {shellText('save')}
      </Button>
    </>
  );
  return (
    <Dialog
      title={id === null ? editText('addTitle') : editText('editTitle', { id })}
      isWide
      onClose={() => void leave()}
      onSubmit={() => void edit.save()}
      footer={footer}
    >
      <Meanwhile edit={edit} />
      {edit.failure === null ? null : <ProblemBox what={editText('saving')} problem={edit.failure} />}
      {edit.problem === null ? null : <ProblemBox what={editText('reading')} problem={edit.problem} />}
      {edit.form === null ? (
        edit.problem === null && <Skeleton bars={8} />
      ) : (
        <>
          <AddressSection edit={edit} />
          <OtherSections edit={edit} />
        </>
      )}
    </Dialog>
  );
};
