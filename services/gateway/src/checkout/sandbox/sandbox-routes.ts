import { AppError, type WayToPay } from '@cpg/contracts';
import type { FastifyInstance } from 'fastify';
import { callContext } from '../../door/request.ts';
import { requireSameOrigin } from '../../door/bodies/forms.ts';
import { checkoutOf, type ShownOrder } from '../state/checkout.ts';
import { type FindPage, noSuchPage } from '../state/find-page.ts';
import { choiceOf, chosenWay, pageLink } from '../state/page-link.ts';
import {
  ACTIONS,
  possibleActions,
  runSandboxAction,
  type SandboxAction,
  type SandboxServices,
  type Strip,
} from './actions.ts';
import type { TestWallet } from './test-wallet.ts';

export interface SandboxOptions extends SandboxServices {
  readonly wallet: TestWallet | null;
}

/** `POST /pay/:reference/sandbox/:action`: the buttons of the strip. */
export const sandboxRoutes = (app: FastifyInstance, find: FindPage, options: SandboxOptions): void => {
  app.post<{ Params: { reference: string; action: string } }>(
    '/pay/:reference/sandbox/:action',
    { schema: { hide: true } },
    async (request, reply) => {
      requireSameOrigin(request);
      const { reference, action } = request.params;
      const context = callContext(request);
      const shown = await find(reference, context);
      if (!shown) throw noSuchPage();
      const choice = choiceOf(request.query);
      if (action === 'wallet') await payFromWallet(shown, choice.way, options);
      else if (isAction(action)) await runSandboxAction(action, shown.order, context, options);
      else throw new AppError('not_found', 'there is no such action');
      return reply
        .code(303)
        .header('location', pageLink(reference, { ...choice, watched: '1' }))
        .send();
    },
  );
};

/** The actions that the strip of an order offers. */
export const stripOf = async (
  { order }: ShownOrder,
  { ways, way }: { readonly ways: readonly WayToPay[]; readonly way: WayToPay | null },
  { wallet }: SandboxOptions,
): Promise<Strip> => {
  const chain = (await wallet?.chainId()) ?? null;
  const payable = (way ? [way] : ways).find(({ chain_id }) => chain_id === chain);
  return { actions: possibleActions(order), walletNetwork: payable?.network ?? null };
};

/** Once the order takes no money, this changes nothing. */
const payFromWallet = async (shown: ShownOrder, network: string | undefined, { wallet, now }: SandboxOptions) => {
  const way = chosenWay(checkoutOf(shown, now()), network);
  if (wallet && way && way.chain_id === (await wallet.chainId())) await wallet.pay(way);
};

const isAction = (name: string): name is SandboxAction => (ACTIONS as readonly string[]).includes(name);
