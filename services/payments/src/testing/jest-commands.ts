import { runCommand } from '@cpg/platform/commands/testing';
import { addChainsCommands, type ChainsCommand } from '../chains/operator/chains-commands.ts';
import { addUnclaimedCommands, type UnclaimedCommand } from '../matching/unclaimed-commands.ts';

/** Runs `chains …`. Resolves to its exit code. */
export const executeChains = async (args: readonly string[], command: ChainsCommand): Promise<number> =>
  (await runCommand((program) => addChainsCommands(program, (work) => work(command)), ['chains', ...args])).code;

/** Runs `unclaimed …`. Resolves to its exit code. */
export const executeUnclaimed = async (args: readonly string[], command: UnclaimedCommand): Promise<number> =>
  (await runCommand((program) => addUnclaimedCommands(program, (work) => work(command)), ['unclaimed', ...args])).code;
