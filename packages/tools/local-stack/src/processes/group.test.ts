import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createProcessGroup, GroupStoppedError } from './group.ts';
import type { Program } from './supervisor.ts';

const program = (name: string, onTerm: string): Program => ({
  name,
  launch: async (onSpawn) => {
    const code = `process.on('SIGTERM', () => { ${onTerm} }); process.stdout.write('up'); setInterval(() => {}, 1000)`;
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    onSpawn(child);
    await once(child.stdout, 'data');
  },
});

test('stops processes phase by phase, and records them while they run', async () => {
  const record: string[] = [];
  const group = createProcessGroup({
    warn: () => {},
    onPidChange: (name, pid) => record.push(`${name} ${pid ? 'up' : 'gone'}`),
  });
  await Promise.all(
    ['engine', 'slow service', 'service'].map((name) =>
      group.run(program(name, `setTimeout(() => process.exit(0), ${name === 'slow service' ? 300 : 0})`)),
    ),
  );
  await group.stop([
    { includes: (name) => name.endsWith('service'), deadlineMs: 5_000 },
    { includes: () => true, deadlineMs: 6_000 },
  ]);
  expect(record.slice(3)).toEqual(['service gone', 'slow service gone', 'engine gone']);
  await expect(group.run(program('late', ''))).rejects.toThrow(GroupStoppedError);
});

test('kills a process that does not stop within its phase', async () => {
  const warnings: string[] = [];
  const group = createProcessGroup({ warn: (sentence) => warnings.push(sentence), onPidChange: () => {} });
  await group.run(program('stubborn', ''));
  await group.stop([{ includes: () => true, deadlineMs: 200 }]);
  expect(warnings).toEqual(['stubborn did not stop in time and was killed']);
});
