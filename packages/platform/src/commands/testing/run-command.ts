import { type AdminCommand, adminProgram } from '../admin-commands.ts';

/** Runs one of the commands that `add` adds. Resolves to its exit code and what it printed. Throws what it throws, and
 *  for a mistake on the command line a CommanderError. */
export const runCommand = async (
  add: (program: AdminCommand) => void,
  args: readonly string[],
): Promise<{ code: number; output: string }> => {
  const printed: string[] = [];
  const program = adminProgram('').configureOutput({ writeOut: (text) => void printed.push(text), writeErr: () => {} });
  program.print = async (text) => void printed.push(text);
  add(program);
  await program.parseAsync(args, { from: 'user' });
  return { code: program.exitCode, output: printed.join('\n') };
};

/** The commands that `add` adds whose help shows no example of them. */
export const commandsWithoutExample = (add: (program: AdminCommand) => void): string[] => {
  let help = '';
  const program = adminProgram('').configureOutput({ writeOut: (text) => void (help += text) });
  add(program);
  return program.commands.flatMap((noun) =>
    noun.commands
      .map((verb) => {
        const call = `${noun.name()} ${verb.name()}`;
        help = '';
        verb.outputHelp();
        return help.includes(`Examples:\n  ${program.name()} ${call}`) ? '' : call;
      })
      .filter((call) => call !== ''),
  );
};

/** The options of the commands that `add` adds whose help says nothing about them. */
export const optionsWithoutDescription = (add: (program: AdminCommand) => void): string[] => {
  const program = adminProgram('');
  add(program);
  return program.commands.flatMap((noun) =>
    noun.commands.flatMap((verb) =>
      verb.options
        .filter(({ description }) => description === '')
        .map(({ long }) => `${noun.name()} ${verb.name()} ${long}`),
    ),
  );
};
