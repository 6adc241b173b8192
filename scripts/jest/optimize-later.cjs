// A test file ends before most optimized code pays off: let a function run 15 times longer before V8 optimizes it.
const { setFlagsFromString } = require('node:v8');

const [major] = process.versions.node.split('.');
// Later versions count calls instead.
if (Number(major) <= 22) setFlagsFromString('--interrupt-budget=1000000');
