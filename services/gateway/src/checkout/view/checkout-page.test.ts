import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { type Checkout, exampleOf, type Payment, Refund } from '@cpg/contracts';
import fc from 'fast-check';
import { bundleForBrowsers } from '../../../../../scripts/bundle.mjs';
import { readPageAssets } from './assets.ts';
import { checkoutOf } from '../state/checkout.ts';
import { speechFor } from './language.ts';
import { chosenWay, pageLink } from '../state/page-link.ts';
import {
  ADDRESS,
  capabilities,
  deposit,
  type Given,
  NOW,
  payment,
  REFERENCE,
  shownOrder,
  USDC,
} from '../testing/jest-checkouts.ts';
import { renderCheckout } from './checkout-page.tsx';

const SCRIPT = new URL('../browser/page.ts', import.meta.url);
const assets = readPageAssets(Buffer.from(bundleForBrowsers(fileURLToPath(SCRIPT))));

const render = (
  given: Given = {},
  {
    way,
    language = 'en',
    merchantName = 'La Fonda',
    contact,
  }: { way?: string; language?: string; merchantName?: string; contact?: string } = {},
) => {
  const settings = { display_name: merchantName, ...(contact !== undefined && { contact }), frame_ancestors: [] };
  const checkout: Checkout = checkoutOf({ ...shownOrder(given), settings }, NOW);
  return renderCheckout({
    ...speechFor(language),
    checkout,
    way: chosenWay(checkout, way),
    link: (choice) => pageLink(REFERENCE, { way, ...choice }),
    assets,
    now: NOW,
    version: 'v1',
    strip: null,
  });
};

const textOf = (html: string) => html.replace(/<[^<>]+>/g, ' ').replace(/\s+/g, ' ');

test('links to the page of a refund that waits for an address', () => {
  const refund = { ...exampleOf(Refund), claim_expires_at: '2026-02-28T00:00:00.000Z' };
  const page = render({ unsettledRefunds: [{ hash: '0a', refund }] }, { language: 'es' });
  expect(page).toContain(`href="/pay/${REFERENCE}/refunds/0a?lang=es"`);
  expect(page).toContain('quiere devolverte 10,50 USDC');
  expect(render()).not.toContain('/refunds/');
  const paid = { status: 'paid', remaining_amount: '0.000000', return_url: 'https://shop.example/' } as const;
  expect(render(paid)).toContain('data-return-url');
  expect(render({ ...paid, unsettledRefunds: [{ hash: '0a', refund }] })).not.toContain('data-return-url');
});

const DUE = {
  en: 'The merchant has to return 7.5278 USDC to you.',
  es: 'El comercio debe devolverte 7,5278 USDC.',
  pt: 'A loja deve devolver 7,5278 USDC a você.',
};
test.each([
  ['en', '7.527800', 'This is the amount that the merchant has to return.'],
  ['en', '5.000000', 'This is a part of the 7.5278 USDC that the merchant has to return.'],
  ['en', '8.000000', 'This includes the 7.5278 USDC that the merchant has to return. The rest comes in addition.'],
  ['es', '7.527800', 'Es el importe que el comercio debe devolverte.'],
  ['es', '5.000000', 'Es una parte de los 7,5278 USDC que el comercio debe devolverte.'],
  ['es', '8.000000', 'Incluye los 7,5278 USDC que el comercio debe devolverte. El resto es adicional.'],
  ['pt', '7.527800', 'É o valor que a loja deve devolver a você.'],
  ['pt', '5.000000', 'É uma parte dos 7,5278 USDC que a loja deve devolver a você.'],
  ['pt', '8.000000', 'Inclui os 7,5278 USDC que a loja deve devolver a você. O resto é adicional.'],
] as const)('says how a refund relates to what is due back: %s, %s', (language, amount, relation) => {
  const refund = { ...exampleOf(Refund), amount, claim_expires_at: '2026-02-28T00:00:00.000Z' };
  const surplus = payment({ id: refund.payment_id, ...SURPLUS });
  const given: Given = { status: 'paid', remaining_amount: '0.000000', payments: [surplus] };
  const { contact } = speechFor(language).texts;
  expect(render(given, { language })).toContain(`${DUE[language]} ${contact}`);
  const page = render({ ...given, unsettledRefunds: [{ hash: '0a', refund }] }, { language });
  expect(page).toContain(`${DUE[language]}</p>`);
  expect(page).toContain(`. ${relation}</p>`);
  expect(page).not.toContain(contact);
});

test('says how a refund of several payments relates to what is due back', () => {
  const refund = { ...exampleOf(Refund), amount: '8.000000', claim_expires_at: '2026-02-28T00:00:00.000Z' };
  const twice = payment({ id: 'pay_2', status: 'orphan', orphan_reason: 'already_paid', paid_amount: '2.000000' });
  const page = (payments: Payment[]) =>
    render({ status: 'paid', remaining_amount: '0.000000', payments, unsettledRefunds: [{ hash: '0a', refund }] });
  expect(page([payment({ id: refund.payment_id, ...SURPLUS }), twice])).toContain(
    'This includes 7.5278 USDC of the 9.5278 USDC that the merchant has to return. The rest comes in addition.',
  );
  expect(page([payment({ id: refund.payment_id, status: 'applied' }), twice])).toContain(
    'This comes in addition to the 2.00 USDC that the merchant has to return.',
  );
});

test('sends nobody to the merchant about late money that a shown refund returns', () => {
  const refund = { ...exampleOf(Refund), claim_expires_at: '2026-02-28T00:00:00.000Z' };
  const late = payment({ status: 'orphan', orphan_reason: 'late' });
  const page = (more: Given) => render({ status: 'expired', payments: [late], ...more });
  expect(page({})).toContain('has to return it. Contact the merchant');
  expect(page({ unsettledRefunds: [{ hash: '0a', refund }] })).not.toContain('Contact the merchant');
  const other = { ...refund, currency: 'USDT' } as const;
  expect(page({ unsettledRefunds: [{ hash: '0a', refund: other }] })).toContain('Contact the merchant');
});

const SURPLUS = { status: 'applied', paid_amount: '60.000000', unapplied_amount: '7.527800' } as const;

test.each([
  ['en', 'Received, does not count'],
  ['es', 'Recibido, no cuenta'],
  ['pt', 'Recebido, não conta'],
])('does not call money paid that no order took: %s', (language, label) => {
  const late = payment({ status: 'orphan', orphan_reason: 'late' });
  expect(render({ status: 'expired', payments: [late] }, { language })).toContain(`<dt>${label}</dt>`);
  const part = payment({ status: 'applied', paid_amount: '20.000000', applied_amount: '20.000000' });
  const expired = render({ status: 'partially_paid_expired', payments: [part] }, { language });
  expect(expired).not.toContain(`<dt>${label}</dt>`);
});

test('says how to reach the merchant, where it tells the payer to', () => {
  const late = payment({ status: 'orphan', orphan_reason: 'late' });
  const page = (contact: string) => render({ status: 'expired', payments: [late] }, { contact });
  const shown = (contact: string) => /give the reference on this page\. (.*?)<\/p>/.exec(page(contact))?.[1];
  expect(shown('hola@lafonda.example')).toBe('<a href="mailto:hola@lafonda.example">hola@lafonda.example</a>');
  expect(shown('https://lafonda.example/ayuda')).toMatch(/^<a href="https:\/\/lafonda.example\/ayuda">/);
  expect(shown('+52 (55) 1234-5678')).toBe('<a href="tel:+525512345678">+52 (55) 1234-5678</a>');
  for (const text of ['ask for Ana', 'javascript:alert(1)', 'http://lafonda.example'])
    expect(shown(text)).toBe(`<bdi>${text}</bdi>`);
});

test('tells a payer of a part to contact the merchant, unless the page shows its refund', () => {
  const part = payment({ status: 'applied', paid_amount: '20.000000', applied_amount: '20.000000' });
  const given: Given = { status: 'partially_paid_expired', payments: [part] };
  expect(render(given)).toContain('or has to return it. Contact the merchant and give the reference');
  const refund = { ...exampleOf(Refund), claim_expires_at: '2026-02-28T00:00:00.000Z' };
  expect(render({ ...given, unsettledRefunds: [{ hash: '0a', refund }] })).not.toContain('Contact the merchant');
});

test('opens on the summary, and on the first way to pay of an express checkout', () => {
  expect(render()).toContain('href="/pay/MFRGGZDFMZTWQ2LKNNWG23TPOA?way=base"');
  expect(render()).not.toContain('class="qr"');
  const express = { capabilities: capabilities({ express_checkout: true }) };
  expect(render(express)).toContain('class="qr"');
  expect(render(express, { way: 'summary' })).not.toContain('class="qr"');
  expect(render(express, { way: 'unknown' })).toContain('class="qr"');
});

test.each([
  ['en', 'Do not send USDC.e: it is another token than USDC', 'USDT0 on Polygon'],
  ['es', 'No envíes USDC.e: es otro token que USDC', 'USDT0 en Polygon'],
  ['pt', 'Não envie USDC.e: é outro token que não USDC', 'USDT0 na rede Polygon'],
])('tells tokens of one currency apart: %s', (language, warning, title) => {
  const deposits = [
    deposit({ not_tokens: ['USDC.e'] }),
    deposit({ network: 'polygon', chain_id: 'eip155:137', asset_label: 'USDT0' }),
  ];
  expect(render({ deposits }, { way: 'base', language })).toContain(warning);
  expect(render({ deposits }, { way: 'base', language })).toContain(title);
  const polygon = render({ deposits }, { way: 'polygon', language });
  expect(polygon).toContain(`<h2 id="way-title">${title}</h2>`);
  expect(polygon).not.toContain('USDC.e');
  const received = render({ payments: [payment({ asset_label: 'USDC.e', credited: false })] }, { language });
  expect(received).toContain(' · USDC.e · Base');
});

/** The QR codes, and which of them is chosen. */
const codesOn = (html: string) => ({
  labels: [...html.matchAll(/<svg class="qr"[^>]*aria-label="([^"]+)"/g)].map(([, label]) => label),
  chosen: /<input[^>]*value="(\w+)"[^>]* checked/.exec(html)?.[1] ?? null,
});

test.each([
  ['a token', deposit(), 'address'],
  ['a coin', deposit({ asset: 'eip155:8453/slip44:60' }), 'amount'],
])('has a QR code of the address alone and one with the amount for %s', (_, given, chosen) =>
  expect(codesOn(render({ deposits: [given] }, { way: 'base' }))).toEqual({
    labels: ['QR code to pay 52.4722 USDC on Base with a wallet', 'QR code of the address on Base'],
    chosen,
  }),
);

test('has the one QR code that all wallets of Bitcoin read', () => {
  const chain_id = 'bip122:000000000019d6689c085ae165831e93';
  const html = render({ deposits: [deposit({ chain_id, asset: `${chain_id}/slip44:0` })] }, { way: 'base' });
  expect(codesOn(html)).toEqual({ labels: [expect.stringContaining('52.4722')], chosen: null });
});

test.each([
  ['en', 'If your wallet shows', 'as the recipient, stop'],
  ['es', 'Si tu billetera muestra', 'como destinatario, detente'],
  ['pt', 'Se a sua carteira mostrar', 'como destinatário, pare'],
])('warns of a wallet that takes the contract of a token for the recipient: %s', (language, before, after) => {
  expect(render({}, { way: 'base', language })).toContain(`${before} <code class="contract">${USDC}</code> ${after}`);
  const coin = render({ deposits: [deposit({ asset: 'eip155:8453/slip44:60' })] }, { way: 'base', language });
  expect(coin).not.toContain(after);
});

test('shows the exact amount, and the address as one text, of which no part stands out', () => {
  const html = render({}, { way: 'base' });
  expect(html).toContain('<span class="value">52.4722 USDC</span>');
  expect(html).toContain('data-copy="52.4722"');
  expect(html).toContain(`<code class="address"><span>${ADDRESS}</span></code>`);
});

test.each([
  [{ partial_payments: true, can_overpay: false }, /shows what is left to pay.*has to return the difference/],
  [{ partial_payments: false, can_overpay: true }, /counts once the rest has arrived.*all of it counts/],
])('says what happens when another amount arrives: %j', (given, expected) =>
  expect(render({ capabilities: capabilities(given) }, { way: 'base' })).toMatch(expected),
);

test.each([
  ['en', 'It counts after 1 confirmation, about 1 minute.', '1 minute left'],
  ['es', 'El pago se acredita después de 1 confirmación, aproximadamente 1 minuto.', 'Tiempo restante: 1 minuto'],
  ['pt', 'O pagamento é creditado após 1 confirmação, cerca de 1 minuto.', 'Tempo restante: 1 minuto'],
])('has texts for one confirmation and one minute: %s', (language, confirmations, left) => {
  const given = { deposits: [deposit({ required_confirmations: 1 })], expiration_date: '2026-01-31T12:11:30.000Z' };
  const html = render(given, { way: 'base', language });
  expect(html).toContain(`<li>${confirmations}</li>`);
  expect(html).toContain(`>${left}</time>`);
});

test.each([
  ['en', 'Part of your payment was seen', 'Part of your payment has arrived'],
  ['es', 'Detectamos una parte de tu pago', 'Llegó una parte de tu pago'],
  ['pt', 'Detectamos uma parte do seu pagamento', 'Uma parte do seu pagamento chegou'],
])('says that a part has arrived only once some of it counts: %s', (language, seen, arrived) => {
  const [part, rest] = [{ paid_amount: '20.000000' }, { remaining_amount: '32.472200' }];
  const pending = payment(part);
  const counted = payment({ ...part, status: 'applied' });
  const page = (given: Given) => render(given, { language });
  expect(page({ payments: [pending] })).toContain(`<h1>${seen}</h1>`);
  expect(page({ payments: [pending] })).toContain(`data-announcement="${seen}. `);
  const partially = { status: 'partially_paid', ...rest } as const;
  expect(page({ ...partially, payments: [counted] })).toContain(`<h1>${arrived}</h1>`);
  const small = payment({ paid_amount: '1.000000' });
  expect(page({ ...partially, payments: [counted, small] })).toContain(`<h1>${arrived}</h1>`);
});

test('tells a payer to close the page only when nothing is left to settle', () => {
  const paid = { status: 'paid', remaining_amount: '0.000000' } as const;
  const applied = { status: 'applied', applied_amount: '52.472200' } as const;
  expect(render({ ...paid, payments: [payment(applied)] })).toContain('You can close this page.');
  const tooMuch = payment({ ...applied, paid_amount: '60.000000', unapplied_amount: '7.527800' });
  expect(render({ ...paid, payments: [tooMuch] })).toContain('Keep this page: one thing is left to settle.');
});

test.each([
  ['en', 'Paid', 'Returned', 'Due back', 'The merchant recorded that it returned 9.00 USDC to you.'],
  ['es', 'Pagado', 'Devuelto', 'Por devolver', 'El comercio registró que te devolvió 9,00 USDC.'],
  ['pt', 'Pago', 'Devolvido', 'A devolver', 'A loja registrou que devolveu 9,00 USDC a você.'],
])('shows in three sums what was paid, returned and is due back: %s', (language, paid, returned, dueBack, notice) => {
  const applied = { status: 'applied', applied_amount: '43.472200', refunded_amount: '9.000000' } as const;
  const twice = payment({ status: 'orphan', orphan_reason: 'already_paid', paid_amount: '20.000000' });
  const html = render(
    { status: 'paid', remaining_amount: '0.000000', payments: [payment(applied), twice] },
    { language },
  );
  const sums = (section: string) => {
    const [, part] = new RegExp(`<section class="${section}".*?<dl class="sums">(.*?)</dl>`).exec(html)!;
    return textOf(part!).replaceAll(',', '.');
  };
  // On paper, the page has both sections.
  for (const section of ['receipt', 'summary'])
    expect(sums(section)).toContain(`${paid} 72.4722 USDC ${returned} 9.00 USDC ${dueBack} 20.00 USDC`);
  expect(html).toMatch(/<p class="amount">72[.,]4722 USDC<\/p>/);
  expect(html).toContain(notice);
});

test.each([
  [
    'en',
    'Not owed 32.4722 USDC',
    'The merchant accepted less than the total. You do not owe the missing 32.4722 USDC.',
    'This order is paid, although 32.4722 USDC is missing. You do not owe it.',
  ],
  [
    'es',
    'No se debe 32,4722 USDC',
    'El comercio aceptó menos del total. No debes los 32,4722 USDC que faltan.',
    'Esta compra está pagada, aunque faltan 32,4722 USDC. No debes esa diferencia.',
  ],
  [
    'pt',
    'Não é devido 32,4722 USDC',
    'A loja aceitou menos que o total. Você não deve os 32,4722 USDC que faltam.',
    'Esta compra está paga, embora faltem 32,4722 USDC. Você não deve essa diferença.',
  ],
])('says that nothing is owed of an order that was settled with less: %s', (language, row, accepted, tolerated) => {
  const page = (more: Given) =>
    textOf(
      render(
        {
          status: 'paid',
          remaining_amount: '0.000000',
          payments: [payment({ status: 'applied', paid_amount: '20.000000' })],
          ...more,
        },
        { language },
      ),
    );
  const shortfall_amount = '32.472200';
  const byMerchant = page({ shortfall_amount, status_reason: 'accepted_by_merchant' });
  expect(byMerchant).toContain(accepted);
  // In the receipt and in the summary.
  expect(byMerchant.split(row)).toHaveLength(3);
  const byTolerance = page({ shortfall_amount, status_reason: 'settled_within_tolerance' });
  expect(byTolerance).toContain(tolerated);
  expect(byTolerance.split(row)).toHaveLength(3);
  expect(page({})).not.toContain(row.replace(/ [\d.,]+ USDC/, ''));
});

test.each([
  ['en', ['Discount', 'Tax', 'Shipping'], 'Sum 880.00 MXN Total 52.4722 USDC'],
  ['es', ['Descuento', 'Impuesto', 'Envío'], 'Suma 880,00 MXN Total 52,4722 USDC'],
  ['pt', ['Desconto', 'Imposto', 'Frete'], 'Soma 880,00 MXN Total 52,4722 USDC'],
])('says what is a discount, a tax and shipping, also on the page of a paid order: %s', (language, kinds, sums) => {
  const line = { quantity: 1, currency: 'MXN' as const };
  const items = [
    { ...line, name: 'Dinner', unit_price: '850.00' },
    { ...line, name: 'Birthday', unit_price: '-50.00', kind: 'discount' as const, quantity: 2 },
    { ...line, name: 'VAT', unit_price: '120.00', kind: 'tax' as const },
    { ...line, name: 'Courier', unit_price: '10.00', kind: 'shipping' as const },
  ];
  const text = textOf(
    render({ status: 'paid', remaining_amount: '0.000000', items, item_totals: { MXN: '880.00' } }, { language }),
  );
  const [discount, tax, shipping] = kinds;
  const money = (amount: string) => `${language === 'en' ? amount : amount.replace('.', ',')} MXN`;
  expect(text).toContain(`Birthday ${discount} · 2 × ${money('-50.00')} ${money('-100.00')} `);
  expect(text).toContain(`VAT ${tax} ${money('120.00')} `);
  expect(text).toContain(`Courier ${shipping} ${money('10.00')} `);
  expect(text).toContain(sums);
});

test('says of each payment what is due back, also in another currency', () => {
  const wrong = {
    status: 'orphan',
    orphan_reason: 'wrong_currency',
    currency: 'USDT',
    paid_amount: '5.000000',
  } as const;
  const late = { status: 'orphan', orphan_reason: 'late', paid_amount: '6.000000' } as const;
  const html = render({ status: 'expired', payments: [payment(wrong), payment(late)] });
  expect(html).toContain('5.00 USDT due back to you');
  expect(html).not.toContain('6.00 USDC due back to you');
});

test.each([
  [
    'en',
    'You sent 20.00 USDT, which does not count for this order.',
    'It does not count: this order is paid in USDC only. The merchant has to return it.',
    'It does not count: it is another token than the USDC that pays this order. The merchant has to return it.',
    'To pay the order, send USDC as this page shows.',
  ],
  [
    'es',
    'Enviaste 20,00 USDT, que no se acredita para este pedido.',
    'No se acredita: este pedido se paga solo con USDC. El comercio debe devolverlo.',
    'No se acredita: es otro token que el USDC que paga este pedido. El comercio debe devolverlo.',
    'Para pagar el pedido, envía USDC como indica esta página.',
  ],
  [
    'pt',
    'Você enviou 20,00 USDT, que não é creditado para este pedido.',
    'Não é creditado: este pedido é pago somente em USDC. A loja deve devolvê-lo.',
    'Não é creditado: é outro token que não o USDC que paga este pedido. A loja deve devolvê-lo.',
    'Para pagar o pedido, envie USDC como esta página mostra.',
  ],
])('says why money in a wrong currency does not count, and what to do: %s', (language, notice, why, token, instead) => {
  const wrong = { status: 'orphan', orphan_reason: 'wrong_currency', paid_amount: '20.000000' } as const;
  const page = (more: Partial<Payment>, order: Given = {}) =>
    textOf(render({ payments: [payment({ ...wrong, ...more })], ...order }, { language }));
  const { contact } = speechFor(language).texts;
  const usdt = { currency: 'USDT' } as const;
  expect(page(usdt)).toContain(notice);
  expect(page(usdt)).toContain(`${why} ${contact} ${instead}`);
  expect(page({ credited: false, asset_label: 'USDC.e' })).toContain(`${token} ${contact} ${instead}`);
  expect(page(usdt, { status: 'expired' })).not.toContain(instead);
  const refund = { ...exampleOf(Refund), ...usdt, claim_expires_at: '2026-02-28T00:00:00.000Z' };
  expect(page(usdt, { unsettledRefunds: [{ hash: '0a', refund }] })).toContain(`${why} ${instead}`);
  const returned = page({ ...usdt, due_back_amount: undefined, refunded_amount: '20.000000' });
  expect(returned).not.toContain(why);
  expect(returned).not.toContain(notice);
});

test.each([
  ['already_paid', 'It does not count: the order was already paid.'],
  ['canceled', 'It does not count: the merchant canceled the order.'],
  ['too_many_payments', 'It does not count: the order already has too many payments.'],
  ['unknown_order', 'It does not count for this order.'],
] as const)('says at a payment why it does not count: %s', (orphan_reason, why) =>
  expect(render({ payments: [payment({ status: 'orphan', orphan_reason })] })).toContain(
    `<p>${why} The merchant has to return it.</p>`,
  ),
);

test.each([
  ['en', 'On another network', 'You sent money on a network that this payment does not show.'],
  ['es', 'En otra red', 'Enviaste dinero por una red que este pago no muestra.'],
  ['pt', 'Em outra rede', 'Você enviou dinheiro por uma rede que este pagamento não mostra.'],
])('says what becomes of money on another network: %s', (language, state, notice) => {
  const orphan = { status: 'orphan', orphan_reason: 'wrong_network', provider_id: 'eip155:1/0xabc:0' } as const;
  const html = render({ payments: [payment(orphan)] }, { language });
  expect(html).toContain(`<span class="state wrong_network">${state}</span>`);
  expect(html).toContain(notice);
});

test.each([
  ['en', 'In time, but not enough', 'You paid in time, but less than the full amount.', /late|after the deadline/],
  ['es', 'A tiempo, pero no alcanza', 'Pagaste a tiempo, pero menos del total.', /tarde|después del plazo/],
  ['pt', 'No prazo, mas incompleto', 'Você pagou dentro do prazo, mas menos que o total.', /atraso|depois do prazo/],
])('does not call money late that came in time and was too little: %s', (language, state, notice, late) => {
  const orphan = { status: 'orphan', orphan_reason: 'insufficient', paid_amount: '20.000000' } as const;
  const html = render({ status: 'expired', payments: [payment(orphan)] }, { language });
  expect(html).toContain(`<span class="state insufficient">${state}</span>`);
  expect(html).toContain(notice);
  expect(html.slice(html.indexOf('<main'))).not.toMatch(late);
});

test('a line breaks before the time of day, not within it', () =>
  expect(render()).toContain('Jan 31, 2026, 1:00\u00a0PM\u00a0UTC</time>'));

test('without JavaScript the page loads itself again until nothing can change', () => {
  expect(render()).toContain(`<meta http-equiv="refresh" content="10; url=/pay/${REFERENCE}"/></noscript>`);
  expect(render({ status: 'canceled' })).not.toContain('http-equiv');
});

test('keeps the chosen way when the language is switched', () =>
  expect(render({}, { way: 'base' })).toContain('href="/pay/MFRGGZDFMZTWQ2LKNNWG23TPOA?lang=es&amp;way=base"'));

const HOSTILE = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '</title><script>',
    '\u202Egnp.exe',
    '🍕'.repeat(1000),
    "' onload='x",
    '&lt;',
    '</bdi></main>',
  ),
);
const OWN_SCRIPT = `<script src="${assets.script.path}" defer></script>`;
const TAGS = new Set(
  'html head meta title link noscript body a header p span bdi nav main fieldset legend input section h1 h2 strong br time ul li dl dt dd div svg rect path code button label progress'.split(
    ' ',
  ),
);

test('no input of an order becomes markup', () =>
  fc.assert(
    fc.property(HOSTILE, HOSTILE, HOSTILE, HOSTILE, (name, modifier, txHash, merchantName) => {
      const line = { quantity: 2.5, unit_price: '1.00', currency: 'USD' as const };
      const items = [{ ...line, name, modifiers: [{ ...line, name: modifier }] }];
      const given = { items, payments: [payment({ paid_amount: '1.000000', tx_hash: `x${txHash}` })] };
      const html = render(given, { way: 'base', merchantName }).replace(OWN_SCRIPT, '');
      // A parser of HTML starts a tag at "<" and a letter, a slash, "!" or "?".
      const tags = [...html.matchAll(/<\/?([a-z!?][^\s/>]*)/gi)].map(([, tag]) => tag!);
      expect(tags.filter((tag) => !TAGS.has(tag) && tag !== '!doctype')).toEqual([]);
      expect(html.replace(/"[^"]*"/g, '')).not.toMatch(/<[^<>]*\son[a-z]+=/i);
      expect(html.match(/<title>([^<]*)<\/title>/)![1]).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    }),
    { numRuns: 50 },
  ));

test('isolates names, so that right-to-left text cannot change what surrounds them', () => {
  const items = [{ name: '\u202Eabc', quantity: 1, unit_price: '1.00', currency: 'USD' as const }];
  const html = render({ items }, { merchantName: '\u202Efonda' });
  expect(html).toContain('<bdi>\u202Eabc</bdi>');
  expect(html).toContain('<bdi>\u202Efonda</bdi>');
});

test('the page and all that it loads have at most 40 KB compressed', () => {
  const items = Array.from({ length: 20 }, (_, n) => ({
    name: `Item ${n}`,
    quantity: n + 1,
    unit_price: '12.50',
    currency: 'USD' as const,
  }));
  const page = brotliCompressSync(render({ items }, { way: 'base' })).length;
  const loaded = Object.values(assets).reduce((sum, { encoded }) => sum + encoded.br.length, 0);
  expect(page + loaded).toBeLessThan(40_000);
});
