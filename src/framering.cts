#!/usr/bin/env node
/**
 * The command `framering`, when it is installed as a package. CommonJS, since Node reads ES modules by libuv's threads: how
 * many of those there are is settled before the first line of one runs.
 */
{
  const MIN_NODE = [20, 20] as const;
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
    process.stderr.write(
      `framering needs Node ${MIN_NODE.join('.')} or later; this is ${process.versions.node}\n`,
    );
    process.exit(1);
  }
  // Half of them for the recordings' disk: as `npm start` has it.
  process.env['UV_THREADPOOL_SIZE'] ||= '16';
  void import('./command.js');
}
