// The stage's shapes as three.js meshes. Long axes are along z there, along y in three.js.

import * as THREE from "./three-0.178.0/three.module.min.js";

const ENDLESS_M = 30;

function upright(geometry) {
  return geometry.rotateX(Math.PI / 2);
}

const FORMS = {
  plane: ({ half_m: [x, y] }) => new THREE.PlaneGeometry(x > 0 ? 2 * x : ENDLESS_M, y > 0 ? 2 * y : ENDLESS_M),
  sphere: ({ radius_m }) => new THREE.SphereGeometry(radius_m, 28, 18),
  capsule: ({ radius_m, half_length_m }) => upright(new THREE.CapsuleGeometry(radius_m, 2 * half_length_m, 10, 24)),
  cylinder: ({ radius_m, half_length_m }) => upright(new THREE.CylinderGeometry(radius_m, radius_m, 2 * half_length_m, 32)),
  ellipsoid: ({ radii_m }) => new THREE.SphereGeometry(1, 28, 18).scale(...radii_m),
  box: ({ half_m: [x, y, z] }) => new THREE.BoxGeometry(2 * x, 2 * y, 2 * z),
  mesh: ({ vertices_m, triangles }) => {
    const corners = new Float32Array(9 * triangles.length);
    triangles.flat().forEach((corner, at) => corners.set(vertices_m[corner] ?? [0, 0, 0], 3 * at));
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(corners, 3));
    geometry.computeVertexNormals();
    return geometry;
  },
};

export function isEndless(shape) {
  return shape.form === "plane" && shape.half_m.some((half) => !(half > 0));
}

export function build(shape) {
  const geometry = FORMS[shape.form]?.(shape);
  if (!geometry) return null;
  const [r, g, b, a] = shape.rgba;
  const material = new THREE.MeshLambertMaterial({ transparent: a < 1, opacity: a });
  material.color.setRGB(r, g, b, THREE.SRGBColorSpace);
  const mesh = new THREE.Mesh(geometry, material);
  const [w, x, y, z] = shape.quat_wxyz;
  mesh.position.set(...shape.pos_m);
  mesh.quaternion.set(x, y, z, w);
  mesh.castShadow = shape.form !== "plane" && a > 0.5;
  mesh.receiveShadow = true;
  return mesh;
}
