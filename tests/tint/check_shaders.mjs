// Every shader of a folder as a browser sees it: compiled by Tint, which checks more than naga does (uniform control flow at
// barriers and derivatives), and each kernel made into a pipeline on a device with WebGPU's default limits.
//
// node check_shaders.mjs PACKAGES FOLDER    PACKAGES has the package `webgpu`, Dawn for node; FOLDER has files *.wgsl.
// Prints one line for every fault and the number of shaders and pipelines. Exit code 1: there is a fault; 3: no Dawn on this system.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [packages, folder] = process.argv.slice(2);

let gpu; // kept for as long as the device: Dawn does not survive its collection
let device;
try {
    const { create } = createRequire(join(resolve(packages), 'here.js'))('webgpu');
    // the null backend needs no driver; it compiles and checks as any other
    gpu = create(['backend=null']);
    // nothing asked for: the limits that every browser promises
    device = await (await gpu.requestAdapter()).requestDevice();
} catch (error) {
    console.log(String(error.message).split('\n')[0]);
    process.exit(3);
}

const faults = [];
let pipelines = 0;
const files = readdirSync(folder).filter((file) => file.endsWith('.wgsl')).sort();
for (const file of files) {
    const code = readFileSync(join(folder, file), 'utf8');
    device.pushErrorScope('validation');
    const module = device.createShaderModule({ label: file, code });
    const { messages } = await module.getCompilationInfo();
    for (const { type, lineNum, message } of messages) {
        faults.push(`${file}:${lineNum}: ${type}: ${message}`);
    }
    const refused = await device.popErrorScope();
    if (refused) {
        if (messages.length === 0) faults.push(`${file}: ${refused.message}`);
        continue;
    }
    const compute = [...code.matchAll(/@compute[^{]*?\bfn\s+(\w+)/g)];
    for (const [, entryPoint] of compute) {
        try {
            await device.createComputePipelineAsync({ layout: 'auto', compute: { module, entryPoint } });
            pipelines += 1;
        } catch (error) {
            faults.push(`${file}: ${entryPoint}: ${error.message}`);
        }
    }
}
faults.forEach((fault) => console.log(fault));
console.log(`${files.length} shaders, ${pipelines} pipelines, ${faults.length} faults`);
device.destroy();
gpu = undefined;
process.exitCode = faults.length === 0 ? 0 : 1;
