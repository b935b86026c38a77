namespace Snapper.Sidecar.Hosting;

/// <summary>Counts the bytes that a call holds. Disposed of when its answer has left.</summary>
public interface IBodyRoom : IDisposable
{
    /// <summary>Takes room for a part of the body, before there is memory for it.</summary>
    /// <returns>False: there is none; the rest of the body is thrown away.</returns>
    bool TryTake(int bytes);
}
