// The 3D view. Drawn at most 30 times a second, and only when something changed. It touches nothing
// of the page, so that it can live in a worker.

import * as THREE from "./three-0.178.0/three.module.min.js";
import { build, isEndless } from "./shapes.js";

const PERIOD_MS = 1000 / 30;
const SOFT_PERIOD_MS = 1000 / 12;
// Slower than this, the view gives up sharpness and then shadows, so that keys stay quick.
const SLOW_MS = 70;
const BACK = 0x10161e;
const TRAIL = 240;

// Whether there is WebGL, and whether the processor has to do the drawing.
export function probe(canvas) {
  const gl = canvas.getContext("webgl2");
  if (!gl) return { able: false, soft: false };
  const more = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(more ? more.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return { able: true, soft: /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name) };
}

export class View {
  constructor({ canvas, soft }, told) {
    this.told = told;
    this.drawn = 0;
    this.dirty = true;
    this.bodies = [];
    this.size = null;
    this.eye = null;
    this.quality = soft ? 0.75 : 1;
    const period = soft ? SOFT_PERIOD_MS : PERIOD_MS;
    this.slow = 0;
    // Throws where there is no WebGL.
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !soft });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = soft ? THREE.BasicShadowMap : THREE.PCFShadowMap;
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(BACK);
    this.scene.fog = new THREE.Fog(BACK, 2.5, 9);
    this.camera = new THREE.PerspectiveCamera(45, 1, 0.01, 60);
    this.camera.up.set(0, 0, 1);
    this.light();
    this.last = 0;
    let before = 0;
    const frame = (now) => {
      requestAnimationFrame(frame);
      this.adapt(now - before);
      before = now;
      if (this.dirty && this.size && this.eye && now - this.last >= period - 4) this.draw(now);
    };
    requestAnimationFrame(frame);
  }

  light() {
    this.scene.add(new THREE.HemisphereLight(0xdfe9f5, 0x3a3430, 1.5));
    this.sun = new THREE.DirectionalLight(0xfff1de, 2.2);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0006;
    this.sun.shadow.normalBias = 0.004;
    const eye = this.sun.shadow.camera;
    [eye.left, eye.right, eye.bottom, eye.top, eye.near, eye.far] = [-0.9, 0.9, -0.9, 0.9, 0.1, 4];
    this.scene.add(this.sun, this.sun.target);
  }

  // Builds what there is; the page may come back to another stage.
  build(stage) {
    for (const body of this.bodies) this.scene.remove(body);
    this.shown = null;
    this.scene.remove(this.extras);
    this.bodies = stage.bodies.map(() => new THREE.Group());
    let floor = null;
    for (const shape of stage.shapes) {
      const mesh = build(shape);
      if (mesh) this.bodies[shape.body]?.add(mesh);
      if (isEndless(shape)) floor = shape;
    }
    this.bodies.forEach((body) => this.scene.add(body));
    this.extras = new THREE.Group();
    const grid = new THREE.GridHelper(4, 40, 0x5b6b7d, 0x36424f).rotateX(Math.PI / 2);
    grid.material.transparent = true;
    grid.material.opacity = 0.55;
    grid.position.z = (floor?.pos_m[2] ?? 0) + 0.0008;
    const axes = new THREE.AxesHelper(0.1).setColors(0xf85149, 0x3fb950, 0x58a6ff);
    axes.position.z = grid.position.z + 0.001;
    this.trail = new THREE.Line(
      new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * TRAIL), 3)),
      new THREE.LineBasicMaterial({ color: 0xff9f43, transparent: true, opacity: 0.7 }),
    );
    this.trail.frustumCulled = false;
    this.trail.geometry.setDrawRange(0, 0);
    this.trailed = [];
    this.extras.add(grid, axes, this.trail);
    this.scene.add(this.extras);
    const [x, y, z] = stage.look_at_m;
    this.sun.target.position.set(x, y, z);
    this.sun.position.set(x + 0.5, y - 0.7, z + 1.6);
    this.dirty = true;
  }

  show({ bodies, hand }) {
    // An arm that stands still need not be drawn again.
    if (this.shown?.length === bodies.length && this.shown.every((value, at) => value === bodies[at])) return;
    this.shown = bodies;
    this.bodies.forEach((body, index) => {
      const pose = bodies.subarray(7 * index, 7 * index + 7);
      if (pose.length < 7) return;
      body.position.set(pose[0], pose[1], pose[2]);
      body.quaternion.set(pose[4], pose[5], pose[6], pose[3]);
    });
    this.follow(hand);
    this.dirty = true;
  }

  // A fading memory of where the hand was.
  follow(hand) {
    if (!this.trail || !hand.every(Number.isFinite)) return;
    const last = this.trailed.at(-1);
    if (last && Math.hypot(...hand.map((value, axis) => value - last[axis])) < 0.002) return;
    if (last && Math.hypot(...hand.map((value, axis) => value - last[axis])) > 0.15) this.trailed = [];
    this.trailed.push(hand);
    if (this.trailed.length > TRAIL) this.trailed.shift();
    const positions = this.trail.geometry.attributes.position;
    this.trailed.forEach((point, at) => positions.setXYZ(at, ...point));
    positions.needsUpdate = true;
    this.trail.geometry.setDrawRange(0, this.trailed.length);
  }

  look({ from, at }) {
    this.eye = { from, at };
    this.dirty = true;
  }

  resize({ width, height, ratio }) {
    this.size = { width, height, ratio };
    this.renderer.setPixelRatio(this.quality * ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  draw(now) {
    this.last = now;
    this.dirty = false;
    this.camera.position.set(...this.eye.from);
    this.camera.lookAt(...this.eye.at);
    this.renderer.render(this.scene, this.camera);
    this.drawn += 1;
    this.told(this.drawn, this.shown !== null && this.shown !== undefined);
  }

  // Frames come late when drawing takes long; very late, when the page was hidden.
  adapt(gap_ms) {
    if (this.drawn < 5 || gap_ms > 3000) return;
    this.slow = gap_ms > SLOW_MS ? this.slow + 1 : Math.max(0, this.slow - 0.5);
    if (this.slow < 8) return;
    this.slow = 0;
    if (this.quality > 0.45) {
      this.quality *= 0.75;
      this.resize(this.size);
    } else if (this.sun.castShadow) {
      this.sun.castShadow = false;
      this.dirty = true;
    }
  }
}
