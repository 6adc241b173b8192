const { bootstrap } = require('@vendure/core');
const { config } = require('./config.js');

// The job queue runs in this process too: one process is the whole shop.
bootstrap(config)
  .then((app) => app.get(require('@vendure/core').JobQueueService).start())
  .then(() => console.log('the shop is ready'))
  .catch((error) => {
    console.error(error);
    process.exit(1);
  });
