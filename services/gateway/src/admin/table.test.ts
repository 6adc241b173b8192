import { table } from './command.ts';

test('a cell stays on its line, as wide as it is printed', () => {
  const rows = [
    ['m_1', 'two\nlines\u001b[2J', 'x'],
    ['m_2', 'é', 'y'],
  ];
  expect(table(['id', 'name', 'z'], rows).split('\n')).toEqual([
    'id   name                 z',
    String.raw`m_1  two\nlines\u001b[2J  x`,
    'm_2  é                    y',
  ]);
});
