import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { processGroup, GroupStopped } from './group.ts';
import type { Program } from './supervisor.ts';

const program = (name: string, onTerm: string): Program => ({
  name,
  launch: async (spawned) => {
    const code = `process.on('SIGTERM', () => { ${onTerm} }); process.stdout.write('up'); setInterval(() => {}, 1000)`;
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    spawned(child);
    await once(child.stdout, 'data');
  },
});

test('processes stop phase by phase, a slow one holding up those after it, and are on record while they run', async () => {
  const record: string[] = [];
  const group = processGroup({ warn: () => {}, changed: (name, pid) => record.push(`${name} ${pid ? 'up' : 'gone'}`) });
  await Promise.all(
    ['engine', 'slow service', 'service'].map((name) =>
      group.run(program(name, `setTimeout(() => process.exit(0), ${name === 'slow service' ? 300 : 0})`)),
    ),
  );
  await group.stop([
    { includes: (name) => name.endsWith('service'), byMs: 5_000 },
    { includes: () => true, byMs: 6_000 },
  ]);
  expect(record.slice(3)).toEqual(['service gone', 'slow service gone', 'engine gone']);
  expect(group.pidOf('engine')).toBeNull();
  await expect(group.run(program('late', ''))).rejects.toThrow(GroupStopped);
});

test('a process that will not stop is ended when its phase is over', async () => {
  const warnings: string[] = [];
  const group = processGroup({ warn: (sentence) => warnings.push(sentence), changed: () => {} });
  await group.run(program('stubborn', ''));
  await group.stop([{ includes: () => true, byMs: 200 }]);
  expect(warnings).toEqual(['stubborn did not stop in time and is ended']);
});
