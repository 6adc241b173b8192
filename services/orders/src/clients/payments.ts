import { type AssignedInstruction, Instructions, type InstructionsCall, type PaymentOutcome } from '@cpg/contracts';
import { isAppError } from '@cpg/core';
import type { CallContext, InternalClient } from '@cpg/runtime';
import { z } from 'zod';

export interface PaymentsClient {
  /** Where to pay, on each rail. Undefined while a provider is too slow to wait for. */
  readonly instructions: (call: InstructionsCall, context: CallContext) => Promise<AssignedInstruction[] | undefined>;
  readonly recordOutcomes: (outcomes: PaymentOutcome[], context: CallContext) => Promise<void>;
  readonly forget: (orderId: string, context: CallContext) => Promise<void>;
}

const INSTRUCTIONS_WITHIN_MS = 3_000;
/** A call may have 256 KiB, and an order any number of payments. */
const OUTCOMES_AT_ONCE = 500;
const Nothing = z.unknown();

export const paymentsClient = (client: InternalClient): PaymentsClient => ({
  instructions: async (body, context) => {
    try {
      const answer = await client.call('POST', '/instructions', {
        body,
        context,
        response: Instructions,
        timeoutMs: INSTRUCTIONS_WITHIN_MS,
      });
      return answer.instructions;
    } catch (error) {
      if (isAppError(error, 'dependency_unavailable') && isTimeout(error.cause)) return undefined;
      throw error;
    }
  },
  recordOutcomes: async (outcomes, context) => {
    for (let start = 0; start < outcomes.length; start += OUTCOMES_AT_ONCE) {
      const body = { outcomes: outcomes.slice(start, start + OUTCOMES_AT_ONCE) };
      await client.call('POST', '/outcomes', { body, context, response: Nothing });
    }
  },
  forget: async (orderId, context) => {
    await client.call('DELETE', `/orders/${orderId}/payments`, { context, response: Nothing });
  },
});

const isTimeout = (cause: unknown): boolean => /Timeout/.test((cause as { name?: string } | undefined)?.name ?? '');
