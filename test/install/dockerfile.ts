import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repo } from './judges.js';

export type Instruction = { readonly name: string; readonly text: string };
export type Stage = {
  readonly base: string;
  readonly name: string;
  readonly instructions: readonly Instruction[];
};

/** The Dockerfile, stage by stage. It has no heredocs, and `\` alone joins lines. */
export const readDockerfile = (): readonly Stage[] => {
  const text = readFileSync(join(repo, 'Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ');
  const stages: { base: string; name: string; instructions: Instruction[] }[] = [];
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    const [base = '', , stage = ''] = rest.split(' ');
    if (name === 'FROM') stages.push({ base, name: stage, instructions: [] });
    else stages.at(-1)!.instructions.push({ name, text: rest.trim() });
  }
  return stages;
};

/** What counts in a stage at last, those of the stages that it goes on from included. */
export const effective = (stages: readonly Stage[], stage: Stage, name: string): string | null => {
  const own = stage.instructions.findLast((each) => each.name === name);
  if (own !== undefined) return own.text;
  const below = stages.find((each) => each.name === stage.base);
  return below === undefined ? null : effective(stages, below, name);
};
