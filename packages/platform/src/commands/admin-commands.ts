import { isAppError, isTemporary } from '@cpg/contracts';
import { Command, CommanderError, type HelpContext } from 'commander';
import { ConfigError, FatalStartError } from '../config/config.ts';
import { printable, writeFailure, writeLine } from '../log/write-line.ts';

/** A command cannot be done as it was given. The message is for the operator. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
}

/** The exit code of a command that cannot be read as it was typed: EX_USAGE of sysexits.h. */
const USAGE_EXIT_CODE = 64;
const FAILURE_EXIT_CODE = 2;

/** As operators type it in a checkout. In an image it is `node dist/admin.js`. */
const PROGRAM = 'npm run admin --';

/** The end of a command: a text to print, its exit code, or nothing. */
export type Outcome = string | number | void;

/** Opens the context of a command, such as its database, runs the command with it, and closes it. */
export type RunWith<Context> = (work: (context: Context) => Promise<Outcome>) => Promise<Outcome>;

/** A command of an operator: the thing that it works on is its argument, everything else is an option. */
export class AdminCommand extends Command {
  exitCode = 0;

  override createCommand(name?: string): AdminCommand {
    return new AdminCommand(name).helpCommand(false);
  }

  /** Lines of the help that show a call, without the name of the program. */
  examples(...calls: readonly string[]): this {
    return this.addHelpText('after', `\nExamples:\n${calls.map((call) => `  ${PROGRAM} ${call}`).join('\n')}`);
  }

  /** Runs `work` with the arguments and, last, the options. */
  runs<Arguments extends unknown[]>(work: (...args: Arguments) => Promise<Outcome> | Outcome): this {
    return this.action(async (...args: unknown[]) => {
      const outcome = await work(...(args.slice(0, -1) as Arguments));
      const root = this.root();
      if (typeof outcome === 'string') await root.print(outcome);
      if (typeof outcome === 'number') root.exitCode = outcome;
    });
  }

  /** Replaced by tests. */
  print: (text: string) => Promise<void> = writeLine;

  /** Commander calls it for a noun without a verb. */
  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context === 'object' && context.error)
      this.error(`error: the command after '${this.name()}' is missing`);
    return super.help();
  }

  private root(): AdminCommand {
    return (this.parent as AdminCommand | null)?.root() ?? this;
  }
}

/** The commands of one service. */
export const adminProgram = (description: string): AdminCommand =>
  new AdminCommand(PROGRAM)
    .description(description)
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError()
    .configureOutput({
      writeOut: (text) => void writeLine(text.trimEnd()),
      writeErr: (text) => void process.stderr.write(text),
      outputError: (text, write) => write(withoutKeys(printable(text))),
    });

/** A key that was typed in the place of something else must not reach a log. */
const withoutKeys = (text: string): string => text.replaceAll(/[\w+/=-]{40,}/g, '…');

/** Runs a command. Resolves to its exit code: its own, 2 for a failure, 64 for a mistake on the command line.
 *  `isExpected` says whether an error explains itself to an operator. */
export const runAdminProgram = async (
  program: AdminCommand,
  args: readonly string[],
  isExpected: (error: unknown) => boolean = isExpectedFailure,
): Promise<number> => {
  try {
    await program.parseAsync(args, { from: 'user' });
    return program.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
    writeFailure(error, isExpected(error));
    return FAILURE_EXIT_CODE;
  }
};

/** Whether an error explains itself to an operator. */
export const isExpectedFailure = (error: unknown): boolean =>
  error instanceof CommandError ||
  error instanceof ConfigError ||
  error instanceof FatalStartError ||
  (isAppError(error) && !isTemporary(error));

export { Argument } from 'commander';
