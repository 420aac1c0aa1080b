// node onnx_runtime.js MODULES MODEL.onnx THREADS INPUT SHAPE OUTPUT: ONNX Runtime, to be timed.
// INPUT and OUTPUT are files of plain floats, SHAPE is that of the input: 8x3x224x224. It runs
// once, writes OUTPUT and says {"version": …}. From then on it answers every line "run N" by N more
// runs: {"ns": [time of each]}. {"error": …} is its last word. It ends with its stdin.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');

const [modules, model, threads, input, shape, output] = process.argv.slice(2);
const say = (what) => fs.writeSync(1, `${JSON.stringify(what)}\n`);

const main = async () => {
  const ort = require(path.join(modules, 'onnxruntime-node'));
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  });
  const bytes = fs.readFileSync(input);
  const floats = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const feeds = {[session.inputNames[0]]: new ort.Tensor('float32', floats, shape.split('x').map(Number))};
  const first = (await session.run(feeds))[session.outputNames[0]];
  fs.writeFileSync(output, Buffer.from(first.data.buffer, first.data.byteOffset, first.data.byteLength));
  say({version: ort.env.versions.node});
  for await (const line of readline.createInterface({input: process.stdin})) {
    const count = Number(/^run (\d+)$/.exec(line)?.[1]);
    if (!count) throw new Error(`not an order: ${line}`);
    const ns = [];
    for (let i = 0; i < count; ++i) {
      const begin = process.hrtime.bigint();
      await session.run(feeds);
      ns.push(Number(process.hrtime.bigint() - begin));
    }
    say({ns});
  }
};

main().catch((error) => {
  say({error: String(error.message).split('\n')[0]});
  process.exitCode = 1;
});
