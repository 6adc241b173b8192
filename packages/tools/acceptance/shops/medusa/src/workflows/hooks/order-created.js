// What a merchant adds to the completion of carts. For tests it fails for some e-mail addresses, once in each process.
const { completeCartWorkflow } = require('@medusajs/medusa/core-flows');

const failed = new Set();

completeCartWorkflow.hooks.orderCreated(async ({ cart_id }, { container }) => {
  const { email } = await container.resolve('cart').retrieveCart(cart_id, { select: ['email'] });
  if (!email.startsWith('fails-once') || failed.has(cart_id)) return;
  failed.add(cart_id);
  throw new Error('the hook of the merchant failed');
});
