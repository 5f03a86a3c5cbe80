import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const repo = join(import.meta.dirname, '../../..');
const judges = join(tmpdir(), 'framering-install-judges/bin');

/** A program that install-tools.sh gets from PyPI. */
export const judge = (name: string): string => join(judges, name);

/** Why it can't judge us here; false: it can. */
export const whyNo = (name: string): string | false =>
  existsSync(judge(name)) ? false : `${name} is not there: test/support/install-tools.sh gets it from PyPI`;

/** Why a program of the system can't be asked; false: it can. */
export const whyNotThere = (program: string): string | false =>
  spawnSync(program, ['--version']).error === undefined ? false : `there is no ${program}`;

export const run = (
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {},
): { status: number | null; said: string } => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: repo, encoding: 'utf8', ...options });
  return { status, said: stdout + stderr };
};
