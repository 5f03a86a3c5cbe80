import { useEffect, useRef, useState } from 'preact/hooks';
import { testCamera } from '../../../data/camera-tests.js';
import { loadCameras } from '../../../data/cameras.js';
import { onHappening } from '../../../data/happenings.js';
import { asProblem, type Problem } from '../../../data/problem.js';
import { api } from '../../../data/session.js';
import type { Camera } from '../../../data/types.js';
import { toast } from '../../../parts/toasts.js';
import { editText } from '../../../text/edit-camera.js';
import type { TestState } from '../many/test-queue.js';
import { faultsOf } from './detection/zones.js';
import {
  begun,
  changedNames,
  changesOf,
  type Form,
  faultsByField,
  newSettings,
  type SettingName,
  type Settings,
  settingsOf,
  withTheirs,
} from './form.js';

export type StreamName = 'main' | 'sub';
/** A test, and of which address it was. */
export type AddressTest = { readonly url: string; readonly transport: string; readonly state: TestState };

/** Reads the camera, and hears of what others change of it, with passwords masked in both. */
const useForm = (id: string | null, folderId: string) => {
  const [form, setForm] = useState<Form | null>(id === null ? begun(newSettings(folderId)) : null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isGone, setIsGone] = useState(false);
  useEffect(() => {
    if (id === null) return;
    const told: object[] = [];
    let isRead = false;
    api<Camera>('GET', `/api/cameras/${encodeURIComponent(id)}?passwords=masked`)
      .then((camera) => {
        isRead = true;
        setForm(begun(settingsOf(camera), told));
      })
      .catch((fault: unknown) => setProblem(asProblem(fault)));
    return onHappening((happening) => {
      if (happening.topic !== 'config' || happening.id !== `cameras/${id}`) return;
      if ('deleted' in happening.set) setIsGone(true);
      else if (!isRead) told.push(happening.set);
      else setForm((before) => (before === null ? null : withTheirs(before, happening.set)));
    });
  }, [id]);
  return { form, setForm, problem, isGone };
};

const useAddressTests = (id: string | null) => {
  const [tests, setTests] = useState<Partial<Record<StreamName, AddressTest>>>({});
  const end = useRef<AbortController>(new AbortController());
  useEffect(() => () => end.current.abort(), []);
  const test = async (stream: StreamName, draft: Settings): Promise<void> => {
    const { transport } = draft;
    const url = (stream === 'main' ? draft.url : draft.sub_url).trim();
    const put = (state: TestState): void =>
      setTests((all) => ({ ...all, [stream]: { url, transport, state } }));
    put({ step: 'running' });
    try {
      const ask = { url, transport, ...(id === null ? {} : { id, stream }) };
      put({ step: 'done', result: await testCamera(ask, end.current.signal) });
    } catch (fault) {
      if (end.current.signal.aborted) return;
      const { detail, faults } = asProblem(fault);
      const result = {
        ...{ ok: false, code: faults.length > 0 ? 'bad_url' : 'not_tested', detail, codec: '', width: 0 },
        ...{ height: 0, fps: 0, keyframe_ms: null, reorder: null, audio_codec: '', test_id: '' },
      };
      put({ step: 'done', result });
    }
  };
  return { tests, test };
};

/** All that the dialog knows of a camera; null for an id: it is a new one. */
export const useEdit = (id: string | null, folderId: string, onDone: () => void) => {
  const { form, setForm, problem, isGone } = useForm(id, folderId);
  const { tests, test } = useAddressTests(id);
  const [newId, setNewId] = useState('');
  const [failure, setFailure] = useState<Problem | null>(null);
  const [isSaving, setIsSaving] = useState(false);

  const set = (changes: Partial<Settings>): void =>
    setForm((before) => (before === null ? null : { ...before, draft: { ...before.draft, ...changes } }));

  const takeTheirs = (name: SettingName): void =>
    setForm((before) => {
      if (before === null) return null;
      const conflicts = new Set([...before.conflicts].filter((each) => each !== name));
      return { ...before, conflicts, draft: { ...before.draft, [name]: before.base[name] } };
    });

  const save = async (): Promise<void> => {
    if (form === null) return;
    setIsSaving(true);
    setFailure(null);
    const changes = changesOf(form.base, form.draft);
    try {
      if (id === null)
        await api('POST', '/api/cameras', { body: { ...form.draft, ...changes, id: newId.trim() } });
      else if (Object.keys(changes).length > 0)
        await api('PUT', `/api/cameras/${encodeURIComponent(id)}`, { body: changes });
      await loadCameras();
      toast({ text: id === null ? editText('added', { id: newId.trim() }) : editText('saved', { id }) });
      onDone();
    } catch (fault) {
      setFailure(asProblem(fault));
    } finally {
      setIsSaving(false);
    }
  };

  const isChanged = form !== null && (newId !== '' || changedNames(form.base, form.draft).length > 0);
  return {
    ...{
      id,
      form,
      problem,
      isGone,
      set,
      takeTheirs,
      save,
      isSaving,
      failure,
      isChanged,
      newId,
      setNewId,
      tests,
    },
    /** Whether the service would take it, as far as it is known here. */
    isFit: form === null || faultsOf(form.draft.detection).size === 0,
    faults: faultsByField(failure?.faults ?? []),
    test: (stream: StreamName) => void (form === null ? null : test(stream, form.draft)),
  };
};

export type Edit = ReturnType<typeof useEdit>;
