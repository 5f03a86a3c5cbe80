import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const python = join(tmpdir(), 'framering-onvif-zeep/bin/python3');
const script = join(import.meta.dirname, '../../../../test/support/onvif/zeep-recorder.py');

/** Why python-onvif-zeep can't judge us here; false: it can. */
export const whyNoZeep: string | false = existsSync(python)
  ? false
  : 'onvif-zeep is not there: test/support/install-tools.sh gets it from PyPI';

export type SeenByZeep = {
  readonly manufacturer: string;
  readonly firmware: string;
  readonly services: readonly string[];
  readonly scopes: readonly string[];
  readonly hostname: string;
  readonly interfaces: number;
  readonly sources: readonly string[];
  readonly source_configurations: readonly string[];
  readonly encoders: readonly string[];
  readonly capabilities: boolean;
  readonly profiles: readonly {
    readonly token: string;
    readonly source: string;
    readonly encoding: string;
    readonly width: number;
    readonly height: number;
    readonly stream: string;
    readonly snapshot: string;
  }[];
};

/** Adds the device at an address as python-onvif-zeep does; rejects with what that printed. */
export const addByZeep = async (url: string, user: string, password: string): Promise<SeenByZeep> => {
  const { hostname, port } = new URL(url);
  const { stdout } = await promisify(execFile)(python, [script, hostname, port, user, password], {
    timeout: 120_000,
  });
  return JSON.parse(stdout) as SeenByZeep;
};
