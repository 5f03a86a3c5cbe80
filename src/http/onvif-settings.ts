import { z } from 'zod';
import { isDeviceAddress } from '../onvif/device-address.js';

/** What may be a name or a password of a device: it stands in XML, where control characters can't. */
export const userText = z
  .string()
  .max(256)
  .regex(/^\P{Cc}*$/u, 'must have no control characters');

export const deviceAddress = z
  .string()
  .max(512)
  .refine(
    isDeviceAddress,
    'must be a host, with a port if need be, or the http address of its device service',
  );

/** Where a camera is asked by ONVIF, for what RTSP can't tell or do. */
export const cameraOnvifSchema = z
  .strictObject({
    address: deviceAddress.optional(),
    profile: z
      .string()
      .max(128)
      .regex(/^\P{Cc}*$/u, 'must have no control characters')
      .optional()
      .meta({
        description: 'token of the profile that is moved; nothing: the first that can be',
      }),
    username: userText.optional().meta({ description: 'nothing: user and password as in url' }),
    password: userText
      .optional()
      .meta({ format: 'password', description: 'shown as *** to who may not see it' }),
  })
  .meta({ id: 'CameraOnvif', description: 'where it is asked by ONVIF; {}: not at all' });
