import { ADVANCE_MINUTES, type SandboxAction, type Strip } from '../sandbox/actions.ts';
import type { View } from './view.tsx';

/** Marks a page of a sandbox, and pays its order without money. */
export const SandboxStrip = ({ view, strip }: { readonly view: View; readonly strip: Strip }) => {
  const { texts, format, link } = view;
  const { sandbox } = texts;
  const post = (action: string, label: string, way = view.way?.network) => {
    const [path, query] = link({ way }).split('?');
    return (
      <button formaction={`${path}/sandbox/${action}${query ? `?${query}` : ''}`} data-action={action}>
        {label}
      </button>
    );
  };
  const { walletNetwork } = strip;
  const labelOf = (action: SandboxAction) =>
    action === 'advance' ? sandbox.advance(format.minutes(ADVANCE_MINUTES)) : sandbox.actions[action];
  const buttons = [
    ...(walletNetwork === null ? [] : [post('wallet', sandbox.wallet, walletNetwork)]),
    ...strip.actions.map((action) => post(action, labelOf(action))),
  ];
  return (
    <aside class="sandbox" aria-labelledby="sandbox-title">
      <h2 id="sandbox-title">{sandbox.title}</h2>
      {strip.actions.length > 0 && <p class="note">{sandbox.hint}</p>}
      {buttons.length > 0 && (
        <form method="post" action={link({})}>
          {buttons}
        </form>
      )}
    </aside>
  );
};
