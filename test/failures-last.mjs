// A reporter that says again at the end which tests failed, where, and why: thousands of lines stand before that.
import { inspect } from 'node:util';

/** A file, or a test with others in it, fails with these: they have been said already. */
const isOwn = ({ details }) => details.error?.failureType !== 'subtestsFailed';

const textOf = ({ name, file, line, details }) => {
  const { error } = details;
  const why = inspect(error?.cause ?? error, { depth: 4 }).replaceAll('\n', '\n    ');
  return `\n${file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`} `}${name}\n    ${why}\n`;
};

export default async function* failuresLast(events) {
  const failures = [];
  for await (const { type, data } of events) if (type === 'test:fail' && isOwn(data)) failures.push(data);
  if (failures.length > 0) yield `\nFailed (${failures.length}):\n`;
  for (const failure of failures) yield textOf(failure);
}
